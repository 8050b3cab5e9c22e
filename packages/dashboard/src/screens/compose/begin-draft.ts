import type { PostDetail } from "@postrider/client";
import { canPublish, type Writer } from "./composition.ts";
import { type Draft, type DraftMedia, emptyDraft, partsOf } from "./draft.ts";
import { type Seed, withSeed } from "./seed.ts";
import { firstWhen, whenAt } from "./when.ts";

interface Beginning {
  /** The post that is edited, with its version. */
  readonly base: { readonly post: PostDetail; readonly etag: string | undefined } | undefined;
  readonly seed: Seed;
  readonly from: PostDetail | undefined;
  readonly handed: readonly DraftMedia[];
  readonly writers: readonly Writer[];
  readonly zone: string;
}

/** What the composer begins with: what was kept, or the post, and what the address proposes. */
export function beginDraft(kept: Draft | undefined, facts: Beginning): Draft {
  const { base, seed, from, handed, zone } = facts;
  const now = Temporal.Now.zonedDateTimeISO(zone);
  if (base !== undefined) return kept !== undefined && kept.keptAt > 0 ? kept : ofPost(base, zone);
  // Nothing was written: only the key is taken over, which other tabs may have read already.
  const fresh = { ...emptyDraft(firstWhen(now)), ...(kept && { key: kept.key }) };
  const begun = kept !== undefined && kept.keptAt > 0 ? kept : fresh;
  return withOnlyAccount(withSeed(begun, seed, { zone, post: from, media: handed }), facts.writers);
}

/** A post to one account needs no choice. */
function withOnlyAccount(draft: Draft, writers: readonly Writer[]): Draft {
  const [first, ...others] = writers.filter(canPublish);
  if (first === undefined || others.length > 0 || draft.keptAt > 0) return draft;
  return { ...draft, accountIds: [first.id] };
}

function ofPost({ post, etag }: NonNullable<Beginning["base"]>, zone: string): Draft {
  const now = Temporal.Now.zonedDateTimeISO(zone);
  const when =
    post.scheduledAt === null
      ? { ...firstWhen(now), kind: "at" as const }
      : whenAt(post.scheduledAt, zone);
  return { ...emptyDraft(when), ...partsOf(post), etag };
}
