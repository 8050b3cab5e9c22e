import type { PostSummary } from "@postrider/client";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { useKeys } from "../../keys/use-keys.ts";
import { rowOf } from "../../kit/far-rows.tsx";
import { MoveDialog } from "../../posts/move-dialog.tsx";
import { isPlanned } from "../../posts/move-post.ts";
import { useCan } from "../../session/session-context.ts";

function listRows(): readonly HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("[data-row], [data-far]")];
}

/** Moves over the rows of a list, to the link inside of each. */
export function moveFocus(step: number): void {
  const rows = listRows();
  const current = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[current === -1 ? 0 : Math.max(0, Math.min(rows.length - 1, current + step))];
  const { row, far } = next?.dataset ?? {};
  rowOf(row ?? far ?? "")
    ?.querySelector("a")
    ?.focus();
}

function rowInFocus(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>("[data-row]") ?? null;
}

/**
 * The keys of a list: `J` and `K` move over its rows, the browser's `Enter` opens one; `R`, `E` and
 * `M` retry, edit and move the one in focus. Returns the dialog that `M` opens.
 */
export function useListKeys(posts: readonly PostSummary[]): ReactNode {
  const canWrite = useCan()("posts:write");
  const [, navigate] = useLocation();
  const [moving, setMoving] = useState<PostSummary>();
  const planned = (): PostSummary | undefined => {
    const id = rowInFocus()?.dataset["row"];
    const post = canWrite ? posts.find((known) => known.id === id) : undefined;
    return post !== undefined && isPlanned(post) ? post : undefined;
  };
  const edit = () => {
    const post = planned();
    if (post !== undefined) navigate(`/posts/${post.id}/edit`);
  };
  useKeys({
    j: () => moveFocus(1),
    k: () => moveFocus(-1),
    e: edit,
    m: () => setMoving(planned()),
    r: () => rowInFocus()?.querySelector<HTMLElement>('[data-key="r"]')?.click(),
  });
  return moving && <MoveDialog post={moving} onClose={() => setMoving(undefined)} />;
}
