import { Resolver } from "node:dns/promises";

/** Asks the DNS for all IPv4 and IPv6 addresses of a name. It throws when there are none. */
export type ResolveName = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * Asks name servers, by default those of this machine. Not with `dns.lookup`: that waits in the thread pool that files are
 * written with, where a few names of a slow server would stop everything, and it tries the search domains of the network.
 *
 * @param servers `ip:port` each.
 */
export function createNameResolver(servers?: readonly string[]): ResolveName {
  return async (hostname, signal) => {
    const resolver = new Resolver({ timeout: 2000, tries: 2 });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener("abort", cancel);
    try {
      signal.throwIfAborted();
      const answers = await Promise.allSettled([
        resolver.resolve4(hostname),
        resolver.resolve6(hostname),
      ]);
      const addresses = answers.flatMap((answer) =>
        answer.status === "fulfilled" ? answer.value : [],
      );
      if (addresses.length === 0) throw new Error("the name has no address");
      return addresses;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  };
}
