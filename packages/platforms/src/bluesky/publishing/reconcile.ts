import type { Handles } from "#src/publishing/handles.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { Verdict } from "#src/publishing/verdict.ts";
import { lookForRecord, toPermalink } from "./xrpc.ts";

/**
 * Reads the record back. If it exists, it is ours, because only Postrider knows the key. If it does not, it may be written.
 * If it cannot be read, writing it again is harmless and settles the outcome too.
 */
export async function reconcile(
  baseUrl: string,
  publication: Publication,
  { rkey = "" }: Handles,
  signal: AbortSignal,
): Promise<Verdict> {
  switch (await lookForRecord(baseUrl, publication, rkey, signal)) {
    case "present":
      return { kind: "present", externalId: rkey, permalink: toPermalink(publication, rkey) };
    case "gone":
      return { kind: "absent" };
    case "unreadable":
      return { kind: "repeat" };
  }
}
