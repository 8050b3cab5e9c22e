import type { PostSummary } from "@postrider/client";
import { useState } from "react";
import { holdBack } from "./hold-back.ts";

interface Known {
  readonly list: string;
  readonly ids: ReadonlySet<string>;
}

/** The posts of a list without those that appeared meanwhile, and the way to show them. */
export function useHeldBack(posts: readonly PostSummary[], list: string) {
  const [known, setKnown] = useState<Known>({ list, ids: new Set() });
  const ids = known.list === list ? known.ids : new Set<string>();
  const { shown, held } = holdBack(posts, ids);
  // What is shown once is known from then on, whatever becomes of it.
  if (known.list !== list || shown.some(({ id }) => !ids.has(id)))
    setKnown({ list, ids: new Set([...ids, ...shown.map(({ id }) => id)]) });
  const show = () => setKnown({ list, ids: new Set(posts.map(({ id }) => id)) });
  return { shown, heldCount: held.length, show };
}
