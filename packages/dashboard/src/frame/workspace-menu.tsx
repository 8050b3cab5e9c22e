import { useQueryClient } from "@tanstack/react-query";
import { ChevronsUpDown, LogOut } from "lucide-react";
import { useLocation } from "wouter";
import { Button } from "../kit/button.tsx";
import { Popover } from "../kit/popover.tsx";
import { useNotices } from "../kit/toast.tsx";
import { sessionApi } from "../session/session-api.ts";
import { useSession } from "../session/session-context.ts";
import { useSettings } from "../settings/settings.ts";
import { clockOf } from "../time/format-time.ts";
import { frameWords } from "../words/frame-words.ts";
import { useWords } from "../words/use-words.ts";
import css from "./frame.module.css";
import { Mark } from "./mark.tsx";

/** The workspace and its session; the notices of this window; the way out. */
export function WorkspaceMenu() {
  const words = useWords(frameWords);
  const { workspace } = useSession();
  return (
    <Popover
      trigger={(props) => (
        <button type="button" className={css.brand} aria-haspopup="dialog" {...props}>
          <Mark className={css.mark} />
          <span>
            <b>
              <span className="sr">{words.workspace} </span>
              {workspace.name}
            </b>
            <span>Postrider</span>
          </span>
          <ChevronsUpDown className="i i-s push" aria-hidden="true" />
        </button>
      )}
    >
      {() => <WorkspaceBox />}
    </Popover>
  );
}

/** On a phone it lies in the sheet of the tab bar. */
export function WorkspaceBox() {
  const words = useWords(frameWords);
  const { workspace, key, version } = useSession();
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const logOut = async () => {
    await sessionApi.end();
    navigate("/login");
    client.clear();
  };
  return (
    <div className={css.box}>
      <div>
        <b>{workspace.name}</b>
        <p className="xs muted">
          {key === null ? words.loginLinkSession : words.sessionOf(key.name)}
          <br />
          {words.version(version)}
        </p>
      </div>
      <NoticeList />
      <Button icon={LogOut} block onClick={() => void logOut()}>
        {words.logOut}
      </Button>
    </div>
  );
}

function NoticeList() {
  const words = useWords(frameWords);
  const notices = useNotices();
  const { zone, language } = useSettings();
  return (
    <section aria-label={words.notices}>
      <h3>{words.notices}</h3>
      {notices.length === 0 && <p className="xs muted">{words.noNotices}</p>}
      <ul className={css.notices}>
        {notices.map(({ id, at, text }) => (
          <li key={id}>
            <span className="num muted">
              {clockOf(
                Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone),
                language,
              )}
            </span>
            <span>{text}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
