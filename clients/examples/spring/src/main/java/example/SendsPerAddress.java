package example;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/** Counts the codes that an address has requested in ten minutes, in the memory of this process. */
final class SendsPerAddress {
    private static final int ADDRESSES = 100_000;
    private static final long WINDOW_NANOS = 600_000_000_000L;

    private final int most;
    private final Map<String, Deque<Long>> sends = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Deque<Long>> eldest) {
            return size() > ADDRESSES;
        }
    };

    /** Raise the number if many people log in behind one address. */
    SendsPerAddress(int most) {
        this.most = most;
    }

    /** Counts a send from this address, and returns a function that takes it back. */
    synchronized Runnable count(String address) {
        long now = System.nanoTime();
        Deque<Long> recent = sends.computeIfAbsent(networkOf(address), none -> new ArrayDeque<>());
        recent.removeIf(at -> now - at >= WINDOW_NANOS);
        if (recent.size() >= most) {
            long wait = (recent.peekFirst() + WINDOW_NANOS - now) / 1_000_000_000L + 1;
            throw new Refused(429, "TOO_MANY_SENDS", Map.of(), String.valueOf(wait), "");
        }
        recent.addLast(now);
        return () -> {
            synchronized (this) {
                recent.removeLastOccurrence(now);
            }
        };
    }

    /** An IPv4 address, or the /64 of an IPv6 one. The address is a number already, so no name is looked up. */
    private static String networkOf(String address) {
        try {
            byte[] bytes = InetAddress.getByName(address).getAddress();
            return HexFormat.of().formatHex(bytes.length == 16 ? Arrays.copyOf(bytes, 8) : bytes);
        } catch (UnknownHostException noAddress) {
            return address;
        }
    }
}
