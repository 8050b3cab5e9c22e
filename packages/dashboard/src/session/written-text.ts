import { useEffect } from "react";
import { createStore, useStore } from "../settings/create-store.ts";

/** What is being written on the page, by field. */
const written = createStore<ReadonlyMap<object, readonly string[]>>(new Map());

/** Makes texts copyable for as long as their field is on the page, also after the session's end. */
export function useWritten(...texts: readonly string[]): void {
  const joined = JSON.stringify(texts);
  useEffect(() => {
    const field = {};
    written.set(new Map(written.get()).set(field, JSON.parse(joined) as string[]));
    return () => written.set(new Map([...written.get()].filter(([other]) => other !== field)));
  }, [joined]);
}

/** All that is being written, each text once; empty when nothing is. */
export function useWrittenText(): string {
  const texts = [...useStore(written).values()].flat().filter((text) => text.trim() !== "");
  return [...new Set(texts)].join("\n\n");
}
