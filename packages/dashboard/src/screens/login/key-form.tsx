import { PostriderError } from "@postrider/client";
import { type SubmitEvent, useState } from "react";
import { Button } from "../../kit/button.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Field, Input } from "../../kit/field.tsx";
import { sessionApi } from "../../session/session-api.ts";
import { useWords } from "../../words/use-words.ts";
import { loginWords } from "./login-words.ts";
import css from "./login.module.css";

interface KeyFormProps {
  readonly onEnter: () => void;
  readonly isMain?: boolean;
}

/** Exchanges an API key for a session. The key is in this field only. */
export function KeyForm({ onEnter, isMain = false }: KeyFormProps) {
  const words = useWords(loginWords);
  const [key, setKey] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const logIn = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await sessionApi.open({ apiKey: key.trim() });
      onEnter();
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
  };
  const isWrong = error instanceof PostriderError && (error.status === 401 || error.status === 422);
  return (
    <form className={css.form} onSubmit={(event) => void logIn(event)}>
      <Field
        label={words.key}
        hint={words.keyHint}
        error={isWrong ? `${words.wrongKey} ${words.wrongKeyHint}` : undefined}
      >
        {(control) => (
          <Input
            {...control}
            type="password"
            className="mono"
            placeholder="pr_live_…"
            required
            value={key}
            onChange={({ target }) => setKey(target.value)}
          />
        )}
      </Field>
      <Button kind={isMain ? "primary" : "plain"} type="submit" block busy={isBusy}>
        {words.logInWithKey}
      </Button>
      {error !== undefined && !isWrong && <ErrorNotice error={error} />}
    </form>
  );
}
