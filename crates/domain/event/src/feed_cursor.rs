use crate::{FeedLife, FeedPosition};
use base64ct::{Base64UrlUnpadded, Encoding};
use dwar_kernel::ProjectMode;
use sha2::{Digest, Sha256};

/// Position of a consumer in the feed.
///
/// Its text is opaque to consumers, and valid in one project and mode only: it ends with a digest over both
/// and everything else, so that a text that was cut, mistyped or made for another project or mode is
/// recognised. It grants nothing: with any position a key sees only events of its own project and mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedCursor {
    pub life: FeedLife,
    /// Run of the feed, see [`FeedSlice::page`](crate::FeedSlice::page).
    pub run: u32,
    /// Position of the last event that was read.
    pub at: FeedPosition,
}

/// Parse error: the text is not a cursor of this project and mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor that this project and mode was given")]
pub struct MalformedCursor;

const VERSION: u8 = 1;
const CONTENT: usize = 29;
const CHECK: usize = 8;

impl FeedCursor {
    /// Length of the text in characters, the same for every cursor.
    pub const LENGTH: usize = 50;

    /// The text that a consumer keeps and sends with its next request.
    pub fn text(&self, project_mode: ProjectMode) -> String {
        let mut bytes = [0_u8; CONTENT + CHECK];
        let parts: [&[u8]; 5] = [
            &[VERSION],
            &self.life.0,
            &self.run.to_be_bytes(),
            &self.at.transaction.to_be_bytes(),
            &self.at.number.to_be_bytes(),
        ];
        let content = parts.concat();
        let check = check(project_mode, &content);
        bytes.iter_mut().zip(content.iter().chain(&check)).for_each(|(to, from)| *to = *from);
        Base64UrlUnpadded::encode_string(&bytes)
    }

    /// Parses a cursor of this project and mode.
    ///
    /// # Errors
    /// [`MalformedCursor`] for any other text.
    pub fn read(text: &str, project_mode: ProjectMode) -> Result<Self, MalformedCursor> {
        let mut bytes = [0_u8; CONTENT + CHECK];
        let read = Base64UrlUnpadded::decode(text, &mut bytes).map_err(|_| MalformedCursor)?;
        let (content, theirs) = read.split_at_checked(CONTENT).ok_or(MalformedCursor)?;
        if check(project_mode, content) != theirs {
            return Err(MalformedCursor);
        }
        Self::of(content).ok_or(MalformedCursor)
    }

    fn of(content: &[u8]) -> Option<Self> {
        let (version, content) = content.split_first()?;
        let (life, content) = content.split_first_chunk()?;
        let (run, content) = content.split_first_chunk()?;
        let (transaction, content) = content.split_first_chunk()?;
        let (number, _) = content.split_first_chunk()?;
        let at = FeedPosition {
            transaction: u64::from_be_bytes(*transaction),
            number: u64::from_be_bytes(*number),
        };
        let cursor = Self { life: FeedLife(*life), run: u32::from_be_bytes(*run), at };
        (*version == VERSION).then_some(cursor)
    }
}

fn check(project_mode: ProjectMode, content: &[u8]) -> [u8; CHECK] {
    let digest = Sha256::new()
        .chain_update("dwar event feed cursor")
        .chain_update(project_mode.project.uuid().as_bytes())
        .chain_update(project_mode.mode.as_str())
        .chain_update([0])
        .chain_update(content)
        .finalize();
    std::array::from_fn(|place| digest[place])
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwar_kernel::{KeyMode, ProjectId};

    fn project_mode(project: u8, mode: KeyMode) -> ProjectMode {
        let project: ProjectId =
            format!("00000000-0000-7000-8000-0000000000{project:02}").parse().unwrap();
        project.in_mode(mode)
    }

    #[test]
    fn its_text_is_read_in_its_own_world_alone() {
        let own = project_mode(1, KeyMode::Live);
        for (transaction, number) in [(0, 0), (0, 1), (u64::MAX, u64::MAX)] {
            let at = FeedPosition { transaction, number };
            let cursor = FeedCursor { life: FeedLife::of("life"), run: 3, at };
            let text = cursor.text(own);
            assert_eq!(
                (text.len(), FeedCursor::read(&text, own)),
                (FeedCursor::LENGTH, Ok(cursor))
            );
            for other in [project_mode(1, KeyMode::Test), project_mode(2, KeyMode::Live)] {
                assert_eq!(FeedCursor::read(&text, other), Err(MalformedCursor));
            }
        }
    }

    #[test]
    fn no_other_text_is_read() {
        let own = project_mode(1, KeyMode::Live);
        let at = FeedPosition { transaction: 700, number: 9 };
        let text = FeedCursor { life: FeedLife::of("life"), run: 1, at }.text(own);
        for place in 0..text.len() {
            let mut other = text.clone().into_bytes();
            other[place] = if other[place] == b'A' { b'B' } else { b'A' };
            let other = String::from_utf8(other).unwrap();
            assert_eq!(FeedCursor::read(&other, own), Err(MalformedCursor), "{other}");
        }
        let longer = format!("{text}A");
        for other in
            ["", "A", "é", &text[1..], &text[..49], &longer, &"A".repeat(50), &"A".repeat(9_000)]
        {
            assert_eq!(FeedCursor::read(other, own), Err(MalformedCursor), "{other}");
        }
    }
}
