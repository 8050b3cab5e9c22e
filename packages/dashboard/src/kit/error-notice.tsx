import { PostriderConnectionError, PostriderError } from "@postrider/client";
import { CircleX } from "lucide-react";
import type { ReactNode } from "react";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import { Button } from "./button.tsx";
import { Note } from "./card.tsx";
import { CopyButton } from "./copy-button.tsx";

interface ErrorNoticeProps {
  readonly error: unknown;
  /** What happened, in the words of the screen. Default: by the kind of the error. */
  readonly title?: ReactNode;
  readonly onRetry?: (() => void) | undefined;
}

/** What happened, what was not harmed, a button, and the id of the request for a report. */
export function ErrorNotice({ error, title, onRetry }: ErrorNoticeProps) {
  const words = useWords(kitWords);
  const own = textOf(error, words);
  const sentence = title === undefined && saysNoMore(error) ? undefined : sentenceOf(error, own);
  return (
    <Note
      tone="bad"
      icon={CircleX}
      role="alert"
      actions={
        onRetry && (
          <Button small onClick={onRetry}>
            {words.tryAgain}
          </Button>
        )
      }
    >
      <strong>{title ?? own}</strong> {sentence}
      <RequestId error={error} />
    </Note>
  );
}

/** Whether the server says to programs what the page says in words of its own. */
function saysNoMore(error: unknown): boolean {
  if (!(error instanceof PostriderError)) return true;
  return error.status === 404 || error.status === 429 || error.status >= 500;
}

/** The sentences of the server name the field, the limit and what would be accepted. */
function sentenceOf(error: unknown, own: string): string | undefined {
  if (!(error instanceof PostriderError)) return undefined;
  if (saysNoMore(error)) return own;
  const { details, message } = error;
  return details.length === 0 ? message : details.map((detail) => detail.message).join(" ");
}

function textOf(error: unknown, words: (typeof kitWords)["en"]): string {
  if (error instanceof PostriderConnectionError) return words.noConnection;
  if (!(error instanceof PostriderError)) return words.unexpected;
  const { status } = error;
  if (status === 403) return words.notAllowed;
  if (status === 404) return words.notHere;
  if (status === 429) return words.tooMany;
  return status >= 500 ? words.unavailable : words.nothingHarmed;
}

export function RequestId({ error }: { readonly error: unknown }) {
  const words = useWords(kitWords);
  if (!(error instanceof PostriderError) || error.requestId === null) return null;
  return (
    <span className="xs muted row">
      {words.request} <code>{error.requestId}</code>
      <CopyButton text={error.requestId} label={words.copyRequestId} />
    </span>
  );
}
