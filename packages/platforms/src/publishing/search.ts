import { repeatLook } from "./look-schedule.ts";
import type { UnknownCall, Verdict } from "./verdict.ts";

/** A page of a list on a platform; `next` is undefined on the last page. */
export interface Page<Entry> {
  readonly entries: readonly Entry[];
  readonly next: string | undefined;
}

/**
 * Ends a list, whose newest entries are first, before the first entry that is too old. An entry
 * whose time cannot be read stays in the list, because it may be the post that is searched for.
 */
export function endAt<Entry>(
  { entries, next }: Page<Entry>,
  isTooOld: (entry: Entry) => boolean,
): Page<Entry> {
  const recent = entries.filter((entry) => !isTooOld(entry));
  return { entries: recent, next: recent.length < entries.length ? undefined : next };
}

/**
 * Reads a list that may contain what an unknown call published. Only the whole list can prove that
 * it is absent, so the result is a verdict when a page cannot be read, and a further search when
 * the list has more pages.
 */
export async function readWholeList<Entry>(
  call: UnknownCall,
  maxPages: number,
  readPage: (after: string | undefined) => Promise<Page<Entry> | Verdict>,
): Promise<{ readonly entries: readonly Entry[] } | Verdict> {
  const entries: Entry[] = [];
  let after: string | undefined;
  for (let count = 0; count < maxPages; count += 1) {
    const page = await readPage(after);
    if ("kind" in page) return page;
    entries.push(...page.entries);
    if (page.next === undefined) return { entries };
    after = page.next;
  }
  return repeatLook(call);
}
