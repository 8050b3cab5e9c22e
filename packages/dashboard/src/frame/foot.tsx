import { Globe, SunMoon } from "lucide-react";
import { connection } from "../api/connection.ts";
import { classNames } from "../kit/class-names.ts";
import { Popover } from "../kit/popover.tsx";
import { ZoneCombobox } from "../kit/zone-combobox.tsx";
import { useLiveState } from "../live/live-events.ts";
import { useStore } from "../settings/create-store.ts";
import { changeSettings, useSettings } from "../settings/settings.ts";
import { offsetOf, placeOf } from "../time/place-names.ts";
import { useNow } from "../time/use-now.ts";
import { frameWords } from "../words/frame-words.ts";
import { useWords } from "../words/use-words.ts";
import css from "./frame.module.css";
import { SettingsBox } from "./settings-box.tsx";

/** The zone of all times, whether changes are live, and what a reader sets for this browser. */
export function Foot({ onShowKeys }: { readonly onShowKeys: () => void }) {
  const words = useWords(frameWords);
  return (
    <div className={css.foot}>
      <ZoneButton />
      <LiveLine />
      <Popover
        trigger={(props) => (
          <button type="button" title={words.settings} {...props}>
            <SunMoon className="i" aria-hidden="true" />
            <span>{words.settings}</span>
          </button>
        )}
      >
        {(close) => (
          <SettingsBox
            onShowKeys={() => {
              close();
              onShowKeys();
            }}
          />
        )}
      </Popover>
    </div>
  );
}

function ZoneButton() {
  const words = useWords(frameWords);
  const { zone, language } = useSettings();
  const now = useNow();
  const label = words.timesIn(placeOf(zone, language), offsetOf(now.toZonedDateTimeISO(zone)));
  return (
    <ZoneCombobox
      label={words.findZone}
      value={zone}
      onChange={(chosen) => changeSettings({ zone: chosen })}
      trigger={(props) => (
        <button type="button" title={label} {...props}>
          <Globe className="i" aria-hidden="true" />
          <span>{label}</span>
        </button>
      )}
    />
  );
}

function LiveLine() {
  const words = useWords(frameWords);
  const live = useLiveState();
  const { lostSince } = useStore(connection);
  // The browser notices later that its stream has ended than that a request got no answer.
  const state = lostSince === undefined ? live : "polling";
  const [word, hint] = {
    live: [words.live, words.liveHint],
    connecting: [words.connecting, words.liveHint],
    polling: [words.notLive, words.notLiveHint],
  }[state] as [string, string];
  return (
    <p className={css.liveLine} role="status" title={hint}>
      <span className={classNames(css.live, state !== "live" && css.poll)} aria-hidden="true" />
      <span>{word}</span>
    </p>
  );
}
