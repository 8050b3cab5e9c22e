import { LogIn } from "lucide-react";
import { useEffect, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { queryClient } from "../../api/query-client.ts";
import { shownWorkspace } from "../../api/shown-workspace.ts";
import { Mark } from "../../frame/mark.tsx";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { sessionApi } from "../../session/session-api.ts";
import { SESSION_KEY } from "../../session/session-gate.tsx";
import { changeSettings } from "../../settings/settings.ts";
import { useWords } from "../../words/use-words.ts";
import { KeyForm } from "./key-form.tsx";
import { LinkSpent } from "./link-spent.tsx";
import { loginWords } from "./login-words.ts";
import css from "./login.module.css";
import { WithCommand } from "./with-command.tsx";

/** The way in: a login link, whose token is in the fragment and so in no log, or an API key. */
export function LoginScreen() {
  const words = useWords(loginWords);
  const token = useToken();
  const enter = useEnter();
  useEffect(() => {
    document.title = `${words.tab} · Postrider`;
  }, [words]);
  return (
    <main className={css.door}>
      <div className={css.box}>
        <div className="row">
          <Mark />
          <b className={css.name}>Postrider</b>
        </div>
        {token === "" ? (
          <KeyCard onEnter={enter} />
        ) : (
          <LinkCard key={token} token={token} onEnter={enter} />
        )}
        <Languages />
      </div>
    </main>
  );
}

/**
 * The token of the link; empty without one. Another link that is opened in the same tab changes
 * only the fragment, for which the browser does not load the page again.
 */
function useToken(): string {
  const [token, setToken] = useState(() => location.hash.slice(1));
  useEffect(() => {
    const take = () => {
      if (location.hash === "") return;
      setToken(location.hash.slice(1));
      // The token leaves the address, and with it the history of the browser.
      history.replaceState(history.state, "", location.pathname + location.search);
    };
    take();
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);
  return token;
}

/** Opens what was asked for before the login; only paths of the dashboard. */
function useEnter(): () => void {
  const [, navigate] = useLocation();
  const [parameters] = useSearchParams();
  const to = parameters.get("to") ?? "/";
  return () => {
    shownWorkspace.set(undefined);
    void queryClient.resetQueries({ queryKey: SESSION_KEY });
    navigate(/^\/(?!\/)/.test(to) ? to : "/", { replace: true });
  };
}

interface EnterProps {
  readonly onEnter: () => void;
}

function LinkCard({ token, onEnter }: EnterProps & { readonly token: string }) {
  const words = useWords(loginWords);
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  // A press, not the visit, uses the link up: programs that look at links in chats do not press.
  const logIn = async () => {
    setBusy(true);
    try {
      await sessionApi.open({ token });
      onEnter();
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
  };
  return (
    <>
      <Card>
        <div className={css.inside}>
          <div className="stack-s">
            <h1>{words.open}</h1>
            <p className="sm quiet">{words.once}</p>
          </div>
          {error === undefined ? (
            <Button kind="primary" block icon={LogIn} busy={isBusy} onClick={() => void logIn()}>
              {words.logIn}
            </Button>
          ) : (
            <LinkSpent error={error} />
          )}
          <p className="xs muted">
            <WithCommand words={words.madeWith} />
          </p>
        </div>
      </Card>
      <details className={css.other}>
        <summary>{words.withKeyInstead}</summary>
        <KeyForm onEnter={onEnter} />
      </details>
    </>
  );
}

function KeyCard({ onEnter }: EnterProps) {
  const words = useWords(loginWords);
  return (
    <Card>
      <div className={css.inside}>
        <h1>{words.withKey}</h1>
        <KeyForm onEnter={onEnter} isMain />
        <p className="xs muted">
          <WithCommand words={words.byLink} />
        </p>
      </div>
    </Card>
  );
}

function Languages() {
  const words = useWords(loginWords);
  return (
    <p className="xs muted row wrap">
      <button
        type="button"
        className="linkbtn"
        lang="en"
        onClick={() => changeSettings({ language: "en" })}
      >
        English
      </button>
      <button
        type="button"
        className="linkbtn"
        lang="ko"
        onClick={() => changeSettings({ language: "ko" })}
      >
        한국어
      </button>
      <a className="push" href="/docs">
        {words.docs}
      </a>
    </p>
  );
}
