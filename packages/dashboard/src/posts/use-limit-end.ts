import { useQuery } from "@tanstack/react-query";
import { useSeconds } from "../time/use-seconds.ts";
import { postsApi } from "./posts-api.ts";

interface LimitEnd {
  readonly at: string;
  readonly msLeft: number;
}

/** When the limit ends at which a target failed; undefined once it has, or when it is not known. */
export function useLimitEnd(postId: string, targetId: string | null): LimitEnd | undefined {
  const { data } = useQuery(postsApi.targets(postId));
  const seconds = useSeconds();
  const waitsFor = data?.targets.find((target) => target.targetId === targetId)?.waitsFor;
  const at = waitsFor?.until ?? undefined;
  if (at === undefined) return undefined;
  const msLeft = Date.parse(at) - seconds * 1000;
  return msLeft > 0 ? { at, msLeft } : undefined;
}
