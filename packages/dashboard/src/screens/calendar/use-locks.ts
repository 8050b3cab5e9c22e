import type { PostSummary } from "@postrider/client";
import { useEffect, useMemo, useState } from "react";
import { isLocked, lockTimeOf } from "../../posts/move-post.ts";

/** Longer waits than a timer knows (24.8 days) are of no use here. */
const MAX_WAIT_MS = 3_600_000;

/** The posts that cannot be moved any more; a timer locks each 5 s before its time. */
export function useLocks(posts: readonly PostSummary[]): ReadonlySet<string> {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const coming = posts.map((post) => lockTimeOf(post) ?? 0).filter((at) => at > nowMs);
    const wait = Math.min(MAX_WAIT_MS, Math.min(...coming) - Date.now());
    const timer = setTimeout(() => setNowMs(Date.now()), Math.max(0, wait));
    return () => clearTimeout(timer);
  }, [posts, nowMs]);
  return useMemo(
    () => new Set(posts.filter((post) => isLocked(post, nowMs)).map(({ id }) => id)),
    [posts, nowMs],
  );
}
