import { Resolver } from "node:dns/promises";

/** Looks up all IPv4 and IPv6 addresses of a host name. @throws Error when the host name has none. */
export type ResolveName = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * Creates a DNS resolver that asks the machine's name servers, or the given ones. It does not use `dns.lookup`, which
 * tries the search domains of the network and occupies the thread pool of file operations: a few slow lookups would
 * block file operations.
 *
 * @param servers Name servers as `ip:port`.
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
      if (addresses.length === 0)
        throw new Error("the name has no address", { cause: findReason(answers) });
      return addresses;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  };
}

function findReason(answers: readonly PromiseSettledResult<unknown>[]): unknown {
  return answers.find((answer) => answer.status === "rejected")?.reason;
}
