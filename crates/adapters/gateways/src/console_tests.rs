use super::*;
use crate::tests::fixtures::{OTP, TEXT, message};
use dwar_kernel::KeyMode;
use dwar_otp::Channel;

#[derive(Clone, Default)]
struct RefusalLog(Arc<Mutex<Vec<u8>>>);

impl RefusalLog {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for RefusalLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Short writes, as a pipe makes them: lines written without a lock would mix.
        let taken = bytes.len().min(5);
        self.0.lock().unwrap().extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Broken {
    write: bool,
}

impl Write for Broken {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.write { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }
}

fn live(channel: Channel) -> Message {
    message(KeyMode::Live, channel, "9876543210")
}

#[tokio::test]
async fn writes_one_json_object_a_line_and_accepts() {
    let kept = RefusalLog::default();
    let gateway = ConsoleGateway::new(Box::new(kept.clone()));
    assert_eq!(gateway.provider(), "console");
    for channel in [Channel::Whatsapp, Channel::Sms] {
        let outcome = gateway.deliver(live(channel)).await;
        assert_eq!(outcome, Outcome::Accepted { provider_ref: None, awaits_receipt: false });
    }
    let text = kept.text();
    assert!(text.ends_with('\n'));
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected = |channel| {
        serde_json::json!({
            "gateway": "console",
            "channel": channel,
            "to": "+919876543210",
            "text": TEXT,
            "otp_id": OTP,
        })
    };
    assert_eq!(lines, [expected("whatsapp"), expected("sms")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn lines_written_at_once_do_not_mix() {
    let kept = RefusalLog::default();
    let gateway = Arc::new(ConsoleGateway::new(Box::new(kept.clone())));
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let gateway = Arc::clone(&gateway);
            tokio::spawn(async move { gateway.deliver(live(Channel::Sms)).await })
        })
        .collect();
    for task in tasks {
        assert!(matches!(task.await.unwrap(), Outcome::Accepted { .. }));
    }
    let text = kept.text();
    assert_eq!(text.lines().count(), 20);
    assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
}

#[tokio::test]
async fn a_failed_write_or_flush_is_a_refusal() {
    for write in [true, false] {
        let gateway = ConsoleGateway::new(Box::new(Broken { write }));
        let outcome = gateway.deliver(live(Channel::Sms)).await;
        assert_eq!(outcome, Outcome::Refused(Reason::ProviderUnavailable));
    }
}
