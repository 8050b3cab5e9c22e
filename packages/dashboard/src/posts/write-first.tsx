import { SquarePen } from "lucide-react";
import { LinkButton } from "../kit/button.tsx";
import { EmptyState } from "../kit/empty-state.tsx";
import { useWords } from "../words/use-words.ts";
import { postWords } from "./post-words.ts";

interface WriteFirstProps {
  readonly title: string;
  readonly hint: string;
  readonly canWrite?: boolean;
}

/** A list without posts: why it is empty, and the way to write one. */
export function WriteFirst({ title, hint, canWrite = true }: WriteFirstProps) {
  const { newPost } = useWords(postWords);
  return (
    <EmptyState
      title={title}
      action={
        canWrite && (
          <LinkButton kind="primary" icon={SquarePen} href="/posts/new">
            {newPost}
          </LinkButton>
        )
      }
    >
      {hint}
    </EmptyState>
  );
}
