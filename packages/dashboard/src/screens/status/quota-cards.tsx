import type { StatusJson } from "@postrider/rest/dashboard/status";
import { useQuery } from "@tanstack/react-query";
import { Card } from "../../kit/card.tsx";
import { classNames } from "../../kit/class-names.ts";
import { Skeleton } from "../../kit/empty-state.tsx";
import { Meter } from "../../kit/meter.tsx";
import { Time } from "../../kit/time.tsx";
import { useSettings } from "../../settings/settings.ts";
import { clockOf, monthOf } from "../../time/format-time.ts";
import { toZoned } from "../../time/place-in-zone.ts";
import { useNow } from "../../time/use-now.ts";
import { useWords } from "../../words/use-words.ts";
import { paceOf } from "./pace.ts";
import { statusApi } from "./status-api.ts";
import { statusWords } from "./status-words.ts";
import css from "./status.module.css";

type Monthly = StatusJson["quota"]["monthly"];

export function numberText(count: number): string {
  return count.toLocaleString("en");
}

/** When a limit begins anew: in the reader's zone, with UTC, by which it is counted. */
export function Anew({ at }: { readonly at: string }) {
  const words = useWords(statusWords);
  const { language } = useSettings();
  return (
    <span className="xs muted">
      {words.beginsAnew} <Time at={at} show="day" />{" "}
      {words.utc(clockOf(toZoned(at, "UTC"), language))}
    </span>
  );
}

export function MonthCard({ monthly }: { readonly monthly: Monthly }) {
  const words = useWords(statusWords);
  const { language } = useSettings();
  const now = useNow();
  const { period, limit, used, reserved, remaining, resetsAt } = monthly;
  const pace = paceOf(used, period, now);
  const first = Temporal.PlainDate.from(`${period}-01`);
  return (
    <Card
      title={monthOf(first, language)}
      aside={words.onePublication}
      actions={resetsAt !== null && <Anew at={resetsAt} />}
    >
      <div className="pad stack">
        <p className={css.big}>
          <b>{numberText(remaining)}</b>{" "}
          <span className="quiet">{words.leftOf(numberText(limit))}</span>
        </p>
        <Meter
          large
          label={words.monthLabel(numberText(used), numberText(reserved), numberText(limit))}
          {...{ used, reserved, limit }}
        />
        <ul className={css.legend}>
          <Swatch look={css.used} count={used} word={words.used} />
          <Swatch look={css.reserved} count={reserved} word={words.reserved} />
          <Swatch look={undefined} count={remaining} word={words.left} />
        </ul>
        <p className="hint">
          {pace !== undefined && words.pace(numberText(pace))} {words.whole}
        </p>
      </div>
    </Card>
  );
}

interface SwatchProps {
  readonly look: string | undefined;
  readonly count: number;
  readonly word: string;
}

function Swatch({ look, count, word }: SwatchProps) {
  return (
    <li className="row">
      <span className={classNames(css.swatch, look)} aria-hidden="true" />
      <b className="num">{numberText(count)}</b> {word}
    </li>
  );
}

/** Requests of the minute; what the answer of a request says of them. */
export function RequestCard() {
  const words = useWords(statusWords);
  const { data, isPending } = useQuery(statusApi.requests());
  if (isPending)
    return (
      <Card title={words.requests} aside={words.allKeys}>
        <Skeleton rows={3} />
      </Card>
    );
  if (data === undefined || data === null) return null;
  const { limit, remaining } = data;
  const text = words.requestsLeft(numberText(limit));
  return (
    <Card title={words.requests} aside={words.allKeys}>
      <div className="pad stack">
        <p className={css.big}>
          <b>{numberText(remaining)}</b> <span className="quiet">{text}</span>
        </p>
        <Meter
          large
          label={`${numberText(remaining)} ${text}`}
          used={limit - remaining}
          limit={limit}
        />
        <p className="hint">{words.requestsHint}</p>
      </div>
    </Card>
  );
}
