import { PostriderError } from "@postrider/client";
import { useQueryClient } from "@tanstack/react-query";
import { Check, Copy, RotateCw } from "lucide-react";
import { type SubmitEvent, useEffect, useEffectEvent, useState } from "react";
import { connection } from "../api/connection.ts";
import { shownWorkspace } from "../api/shown-workspace.ts";
import { Button } from "../kit/button.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { ErrorNotice } from "../kit/error-notice.tsx";
import { Field, Input } from "../kit/field.tsx";
import { useAct } from "../kit/use-act.ts";
import { sessionApi } from "../session/session-api.ts";
import { useSession } from "../session/session-context.ts";
import { useWrittenText } from "../session/written-text.ts";
import { useStore } from "../settings/create-store.ts";
import { frameWords } from "../words/frame-words.ts";
import { useWords } from "../words/use-words.ts";

const FORM = "log-in-again";

/**
 * Over the page when its session has ended or was replaced. Nothing behind it is unmounted, so that
 * a text that is being written stays; a login in another tab is noticed when this one is looked at
 * again.
 */
export function SessionEnded() {
  const { sessionEnded, otherWorkspace } = useStore(connection);
  if (otherWorkspace) return <OtherWorkspaceDialog />;
  return sessionEnded ? <SessionEndedDialog /> : null;
}

/** A login in another tab has replaced the session. All requests of this page are refused. */
function OtherWorkspaceDialog() {
  const words = useWords(frameWords);
  const { workspace } = useSession();
  return (
    <Dialog
      title={words.otherWorkspace}
      footer={
        <>
          <CopyWritten />
          <Button kind="primary" icon={RotateCw} onClick={() => location.reload()}>
            {words.reload}
          </Button>
        </>
      }
    >
      <p className="sm quiet">{words.otherWorkspaceHint(workspace.name)}</p>
    </Dialog>
  );
}

function SessionEndedDialog() {
  const words = useWords(frameWords);
  const { workspace } = useSession();
  const [key, setKey] = useState("");
  const { error, isBusy, logIn } = useLogIn(key);
  return (
    <Dialog
      title={words.ended}
      footer={
        <>
          <CopyWritten />
          <Button kind="primary" type="submit" form={FORM} busy={isBusy}>
            {words.logInAgain}
          </Button>
        </>
      }
    >
      <p className="sm quiet">{words.endedHint}</p>
      <form id={FORM} onSubmit={(event) => void logIn(event)}>
        <Field label={words.apiKey}>
          {(control) => (
            <Input
              {...control}
              type="password"
              className="mono"
              placeholder="pr_live_…"
              value={key}
              onChange={({ target }) => setKey(target.value)}
            />
          )}
        </Field>
      </form>
      {error !== undefined && (
        <ErrorNotice
          error={error}
          title={isWrongKey(error) ? words.wrongKey(workspace.name) : undefined}
        />
      )}
    </Dialog>
  );
}

function isWrongKey(error: unknown): boolean {
  return error instanceof PostriderError && error.status === 401;
}

/** The way out for a text that was being written, whatever becomes of this page. */
function CopyWritten() {
  const words = useWords(frameWords);
  const text = useWrittenText();
  const [copied, setCopied] = useState<string>();
  const { run, error } = useAct(async () => {
    await navigator.clipboard.writeText(text);
    setCopied(text);
  });
  if (text === "") return null;
  const isCopied = copied === text;
  return (
    <>
      {error !== undefined && <ErrorNotice error={error} />}
      <Button icon={isCopied ? Check : Copy} onClick={run}>
        {isCopied ? words.textCopied : words.copyText}
      </Button>
    </>
  );
}

/** Opens a session by the key, or finds one that was opened in another tab. */
function useLogIn(key: string) {
  const client = useQueryClient();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const refresh = () => client.invalidateQueries();
  const look = useEffectEvent(() => void sessionApi.get().then(refresh, () => undefined));
  useEffect(() => {
    const onFocus = () => look();
    addEventListener("focus", onFocus);
    return () => removeEventListener("focus", onFocus);
  }, []);
  const logIn = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      // A key of another workspace is refused: the page would go on there.
      const workspaceId = shownWorkspace.get();
      await sessionApi.open({ apiKey: key.trim(), ...(workspaceId && { workspaceId }) });
      await refresh();
    } catch (caught) {
      setError(caught);
    } finally {
      setBusy(false);
    }
  };
  return { error, isBusy, logIn };
}
