use std::net::{TcpListener, TcpStream};

/// A port on loopback on which no process listens, and that the system gives to no other process
/// for a minute.
///
/// A port that was only bound and released may be given to the next connection of another test before its
/// server uses it. Here a connection was closed from the side of the server, so the port is in TIME-WAIT (RFC
/// 9293, section 3.6.1): the system skips it, and a server that asks for it with `SO_REUSEADDR` gets it.
pub fn reserved_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let client = TcpStream::connect(address).unwrap();
    drop(listener.accept().unwrap());
    drop(client);
    address.port()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_system_gives_a_reserved_port_to_nobody_else() {
        let reserved: BTreeSet<_> = (0..2_000).map(|_| reserved_port()).collect();
        assert_eq!(reserved.len(), 2_000);
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        for _ in 0..2_000 {
            let bound = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
            let connected = TcpStream::connect(server.local_addr().unwrap()).unwrap();
            drop(server.accept().unwrap());
            for port in [bound.port(), connected.local_addr().unwrap().port()] {
                assert!(!reserved.contains(&port));
            }
        }
        for port in reserved {
            assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
            TcpListener::bind(("127.0.0.1", port)).unwrap();
        }
    }
}
