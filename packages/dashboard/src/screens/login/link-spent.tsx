import { PostriderError } from "@postrider/client";
import { Link2Off } from "lucide-react";
import { Note } from "../../kit/card.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { useWords } from "../../words/use-words.ts";
import { loginWords } from "./login-words.ts";
import { WithCommand } from "./with-command.tsx";

/** Why a login link did not open a session. */
export function LinkSpent({ error }: { readonly error: unknown }) {
  const words = useWords(loginWords);
  const isSpent = error instanceof PostriderError && error.status < 500 && error.status !== 429;
  if (!isSpent) return <ErrorNotice error={error} />;
  return (
    <Note tone="bad" icon={Link2Off} role="alert">
      <strong>{words.spent}</strong> <WithCommand words={words.makeNew} />
    </Note>
  );
}
