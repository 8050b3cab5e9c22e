import { expect, test } from "vitest";
import { networkOf } from "./remote-network.ts";

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::ffff:c000:201", "192.0.2.1"],
  ["192.0.2.1:4711", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::", "2001:db8:1:2::/64"],
  ["2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"],
  ["2001:db8:1:3::1", "2001:db8:1:3::/64"],
  ["[2001:db8:1:2::1]:4711", "2001:db8:1:2::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["", "unknown"],
  ["unix:", "unknown"],
  ["not an address", "unknown"],
  ["9".repeat(10_000), "unknown"],
])(
  "requests from the client address %s count towards the rate limit with the key %s",
  (address, network) => {
    expect(networkOf(address)).toBe(network);
  },
);
