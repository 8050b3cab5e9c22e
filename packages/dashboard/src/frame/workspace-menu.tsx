import { ChevronsUpDown, LogOut } from "lucide-react";
import { useState } from "react";
import { Button } from "../kit/button.tsx";
import { ConfirmDialog } from "../kit/confirm-dialog.tsx";
import { ErrorNotice } from "../kit/error-notice.tsx";
import { Popover } from "../kit/popover.tsx";
import { useNotices } from "../kit/toast.tsx";
import { useAct } from "../kit/use-act.ts";
import { dropUploads, hasUploads } from "../media/use-uploads.ts";
import { dropTexts, hasTexts } from "../session/kept-texts.ts";
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
      <LogOutButton />
    </div>
  );
}

/** The page is loaded anew, so that nothing stays in its memory either. */
async function logOut(): Promise<never> {
  await sessionApi.end();
  dropTexts(localStorage);
  // A file on its way would have the browser ask whether to leave.
  dropUploads();
  location.assign("/app/login");
  // Nothing is to be read any more, as it would be after another action.
  return await new Promise<never>(() => undefined);
}

function LogOutButton() {
  const words = useWords(frameWords);
  const [isAsking, setAsking] = useState(false);
  const { run, isBusy, error } = useAct(logOut);
  return (
    <>
      <Button
        icon={LogOut}
        block
        busy={isBusy}
        onClick={() => (hasTexts(localStorage) || hasUploads() ? setAsking(true) : run())}
      >
        {words.logOut}
      </Button>
      {error !== undefined && <ErrorNotice error={error} />}
      {isAsking && (
        <ConfirmDialog
          title={words.logOutTitle}
          confirm={words.logOutRemove}
          keep={words.stayLoggedIn}
          act={logOut}
          onClose={() => setAsking(false)}
        >
          <p className="sm quiet">{words.logOutHint}</p>
        </ConfirmDialog>
      )}
    </>
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
