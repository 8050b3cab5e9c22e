import { useQueryClient } from "@tanstack/react-query";
import { CloudOff, Timer, WifiOff } from "lucide-react";
import { useEffect, useState } from "react";
import { connection } from "../api/connection.ts";
import { Button } from "../kit/button.tsx";
import { Note } from "../kit/card.tsx";
import { CopyButton } from "../kit/copy-button.tsx";
import { useStore } from "../settings/create-store.ts";
import { useSettings } from "../settings/settings.ts";
import { clockWithSecondsOf } from "../time/format-time.ts";
import { useSeconds } from "../time/use-seconds.ts";
import { frameWords } from "../words/frame-words.ts";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import css from "./frame.module.css";

/**
 * Above the screen: what is in the way between this page and the server, and what was not harmed.
 */
export function ConnectionNotes() {
  const { lostSince, unavailable, limitedUntil } = useStore(connection);
  if (lostSince !== undefined) return <Lost since={lostSince} />;
  if (unavailable !== undefined) return <Unavailable requestId={unavailable.requestId} />;
  return limitedUntil === undefined ? null : <Limited until={limitedUntil} />;
}

function Lost({ since }: { readonly since: number }) {
  const words = useWords(frameWords);
  const client = useQueryClient();
  const { zone } = useSettings();
  const at = Temporal.Instant.fromEpochMilliseconds(since).toZonedDateTimeISO(zone);
  return (
    <div className={css.note}>
      <Note
        tone="warn"
        icon={WifiOff}
        role="status"
        actions={
          <Button small onClick={() => void client.refetchQueries({ type: "active" })}>
            {words.tryNow}
          </Button>
        }
      >
        <strong>{words.lost(clockWithSecondsOf(at))}</strong> {words.lostHint}
      </Note>
    </div>
  );
}

/** A server that is busy for a moment answers the repeated request; that needs no words. */
const UNAVAILABLE_AFTER_MS = 2_000;

function Unavailable({ requestId }: { readonly requestId: string | null }) {
  const words = useWords(frameWords);
  const kit = useWords(kitWords);
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), UNAVAILABLE_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isShown) return null;
  return (
    <div className={css.note}>
      <Note tone="warn" icon={CloudOff} role="alert">
        <strong>{words.unavailable}</strong> {words.unavailableHint}
        {requestId !== null && (
          <span className="xs muted row">
            {kit.request} <code>{requestId}</code>
            <CopyButton text={requestId} label={kit.copyRequestId} />
          </span>
        )}
      </Note>
    </div>
  );
}

function Limited({ until }: { readonly until: number }) {
  const words = useWords(frameWords);
  const seconds = Math.max(0, Math.ceil(until / 1_000) - useSeconds());
  return (
    <div className={css.note}>
      <Note icon={Timer} role="status">
        <b>{words.limited}</b> {words.limitedHint(seconds)}
      </Note>
    </div>
  );
}
