import type { WebhookDelivery } from "@postrider/client";
import { classNames } from "../../kit/class-names.ts";
import { useSettings } from "../../settings/settings.ts";
import { clockWithMsOf, dayOf, durationOf } from "../../time/format-time.ts";
import { toZoned } from "../../time/place-in-zone.ts";
import { useNow } from "../../time/use-now.ts";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { Dot, Rail } from "../post/attempt-rail.tsx";
import rail from "../post/post.module.css";
import { Outcome } from "./delivery-table.tsx";
import { webhooksWords } from "./webhooks-words.ts";
import css from "./webhooks.module.css";

interface DeliveryAttemptsProps {
  readonly delivery: WebhookDelivery;
  /** The number of the attempt whose answer is shown below. */
  readonly shown: number | undefined;
  readonly onShow: (number: number) => void;
}

/** Each attempt: when, with what answer, and how long it took. A press shows its answer. */
export function DeliveryAttempts({ delivery, shown, onShow }: DeliveryAttemptsProps) {
  const attempts = delivery.attempts.map((attempt) => ({ ...attempt, finishedAt: endOf(attempt) }));
  return (
    <Rail
      attempts={attempts}
      nextAttemptAt={delivery.nextAttemptAt}
      line={(attempt) => (
        <Line attempt={attempt} isShown={attempt.number === shown} onShow={onShow} />
      )}
    />
  );
}

type Attempt = WebhookDelivery["attempts"][number] & { readonly finishedAt: string };

function endOf({ startedAt, durationMs }: WebhookDelivery["attempts"][number]): string {
  return new Date(Date.parse(startedAt) + durationMs).toISOString();
}

interface LineProps {
  readonly attempt: Attempt;
  readonly isShown: boolean;
  readonly onShow: (number: number) => void;
}

function Line({ attempt, isShown, onShow }: LineProps) {
  const words = useWords(webhooksWords);
  const { distance } = useWords(kitWords);
  const { zone, language } = useSettings();
  const { number, startedAt, durationMs, statusCode } = attempt;
  const zoned = toZoned(startedAt, zone);
  const today = useNow().toZonedDateTimeISO(zone);
  const isToday = zoned.toPlainDate().equals(today.toPlainDate());
  const isFine = statusCode !== null && statusCode >= 200 && statusCode < 300;
  return (
    <li className={classNames(isFine ? rail.ok : rail.bad, css.attempt)}>
      <Dot />
      <button
        type="button"
        className="linkbtn xs num"
        aria-pressed={isShown}
        aria-label={words.showAttempt(number)}
        onClick={() => onShow(number)}
      >
        #{number}
      </button>
      <span className="num">
        {!isToday && `${dayOf(zoned, today, language)}, `}
        {clockWithMsOf(zoned)}
      </span>
      <span className={classNames("num", css.outcome)}>
        <Outcome attempt={attempt} />
        <span className="muted">{durationOf(durationMs, distance)}</span>
      </span>
    </li>
  );
}
