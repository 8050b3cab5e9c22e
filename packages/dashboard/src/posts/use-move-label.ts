import type { PostSummary } from "@postrider/client";
import { useWords } from "../words/use-words.ts";
import { postWords } from "./post-words.ts";

/** What opens the dialog of a new time: it moves a planned post, and schedules a draft. */
export function useMoveLabel({ status }: Pick<PostSummary, "status">): string {
  const words = useWords(postWords);
  return status === "draft" ? words.schedule : words.moveTo;
}
