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
  const [workspace, setWorkspace] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const logIn = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      const which = workspace === "" ? {} : { workspaceId: workspace.trim() };
      await sessionApi.open({ apiKey: key.trim(), ...which });
      onEnter();
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
  };
  const isWrong = error instanceof PostriderError && error.status === 401;
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
      {(workspace !== "" || isSeveral(error)) && (
        <WorkspaceField value={workspace} onChange={setWorkspace} />
      )}
      <Button kind={isMain ? "primary" : "plain"} type="submit" block busy={isBusy}>
        {words.logInWithKey}
      </Button>
      {error !== undefined && !isWrong && !isSeveral(error) && <ErrorNotice error={error} />}
    </form>
  );
}

/** A key that belongs to several workspaces opens one of them. */
function isSeveral(error: unknown): boolean {
  return error instanceof PostriderError && error.code === "workspace_required";
}

interface WorkspaceFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function WorkspaceField({ value, onChange }: WorkspaceFieldProps) {
  const words = useWords(loginWords);
  return (
    <Field label={words.workspace} hint={words.workspaceHint}>
      {(control) => (
        <Input
          {...control}
          className="mono"
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}
