import type { PostSummary } from "@postrider/client";
import { useMemo, useState } from "react";
import { holdBack } from "./hold-back.ts";

interface Known {
  readonly list: string;
  readonly ids: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/** The posts of a list without those that appeared meanwhile, and the way to show them. */
export function useHeldBack(posts: readonly PostSummary[], list: string) {
  const [known, setKnown] = useState<Known>({ list, ids: NONE });
  const ids = known.list === list ? known.ids : NONE;
  const { shown, held } = useMemo(() => holdBack(posts, ids), [posts, ids]);
  // What is shown once is known from then on, whatever becomes of it.
  if (known.list !== list || shown.some(({ id }) => !ids.has(id)))
    setKnown({ list, ids: new Set([...ids, ...shown.map(({ id }) => id)]) });
  const show = () => setKnown({ list, ids: new Set(posts.map(({ id }) => id)) });
  return { shown, heldCount: held.length, show };
}
