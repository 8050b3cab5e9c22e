import type { Handles } from "#src/publishing/handles.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { Verdict } from "#src/publishing/verdict.ts";
import { lookForRecord, toPermalink } from "./xrpc.ts";

/**
 * A record that exists is ours, because only Postrider knows its key. Writing a record again is
 * harmless and resolves the outcome.
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
