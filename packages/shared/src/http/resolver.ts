import { Resolver } from "node:dns/promises";

/** @throws Error when the host name has no address. */
export type ResolveName = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * Asks the machine's name servers, or `servers` (`ip:port`). `dns.lookup` tries the search domains
 * of the network and occupies the thread pool: a few slow lookups would block file operations.
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
