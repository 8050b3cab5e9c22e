import { PostriderError } from "@postrider/client";
import { LinkButton } from "../../kit/button.tsx";
import { useWords } from "../../words/use-words.ts";
import { commentsWords } from "./comments-words.ts";

/** The way out where the account has to be connected again; nothing for other errors. */
export function ToAccounts({ error }: { readonly error: unknown }) {
  const words = useWords(commentsWords);
  const isEnded = error instanceof PostriderError && error.code === "account_reconnect_required";
  return (
    isEnded && (
      <LinkButton small href="/accounts">
        {words.toAccounts}
      </LinkButton>
    )
  );
}
