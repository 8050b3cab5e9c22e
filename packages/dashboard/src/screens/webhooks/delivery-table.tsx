import type { WebhookAttempt, WebhookDelivery } from "@postrider/client";
import { Link, useLocation } from "wouter";
import { useKeys } from "../../keys/use-keys.ts";
import { StatusLabel } from "../../kit/status.tsx";
import { Table } from "../../kit/table.tsx";
import { useSettings } from "../../settings/settings.ts";
import { clockWithSecondsOf, fullOf, nearDayOf } from "../../time/format-time.ts";
import { toZoned } from "../../time/place-in-zone.ts";
import { placeOf } from "../../time/place-names.ts";
import { useNow } from "../../time/use-now.ts";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { moveFocus } from "../posts/use-list-keys.tsx";
import { hrefOf } from "./use-webhook-choice.ts";
import { webhooksWords } from "./webhooks-words.ts";
import css from "./webhooks.module.css";

interface DeliveryTableProps {
  readonly endpointId: string;
  readonly deliveries: readonly WebhookDelivery[];
  readonly chosenId: string | undefined;
}

/** The keys `J` and `K` move over the rows, the browser's `Enter` opens one. */
export function DeliveryTable({ endpointId, deliveries, chosenId }: DeliveryTableProps) {
  const words = useWords(webhooksWords);
  const { zone, language } = useSettings();
  useKeys({ j: () => moveFocus(1), k: () => moveFocus(-1) });
  if (deliveries.length === 0) return null;
  return (
    <Table label={words.filter}>
      <thead>
        <tr>
          <th scope="col">{words.result}</th>
          <th scope="col">{words.event}</th>
          <th scope="col" className="not-s">
            {words.answer}
          </th>
          <th scope="col" className="r">
            {placeOf(zone, language)}
          </th>
        </tr>
      </thead>
      <tbody>
        {deliveries.map((delivery) => (
          <Row
            key={delivery.id}
            delivery={delivery}
            href={hrefOf(endpointId, delivery.id)}
            isChosen={delivery.id === chosenId}
          />
        ))}
      </tbody>
    </Table>
  );
}

interface RowProps {
  readonly delivery: WebhookDelivery;
  readonly href: string;
  readonly isChosen: boolean;
}

function Row({ delivery, href, isChosen }: RowProps) {
  const [, navigate] = useLocation();
  const { id, status, eventType, createdAt } = delivery;
  return (
    <tr
      data-row={id}
      className={css.row}
      aria-selected={isChosen || undefined}
      onClick={(event) => {
        if (!event.defaultPrevented) navigate(href);
      }}
    >
      <td>
        <StatusLabel status={status} loud={status === "failed"} />
      </td>
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- its text is the link */}
      <td>
        <Link href={href} className={css.event}>
          <code>{eventType}</code>
        </Link>
      </td>
      <td className="not-s">
        <Answer delivery={delivery} />
      </td>
      <td className="r muted">
        <Moment at={createdAt} />
      </td>
    </tr>
  );
}

/** The last answer, how often it was tried, and when it is tried next. */
function Answer({ delivery }: { readonly delivery: WebhookDelivery }) {
  const words = useWords(webhooksWords);
  const { zone } = useSettings();
  const { attempts, attemptCount, nextAttemptAt, status } = delivery;
  const last = attempts.at(-1);
  if (last === undefined)
    return status === "failed" ? <span className="none">{words.notTried}</span> : null;
  return (
    <>
      <Outcome attempt={last} />{" "}
      {attemptCount > 1 && <span className="muted num">{words.times(attemptCount)}</span>}{" "}
      {nextAttemptAt !== null && (
        <span className="muted num">
          {words.next(clockWithSecondsOf(toZoned(nextAttemptAt, zone)))}
        </span>
      )}
    </>
  );
}

/** The status of the answer, or why there was none. */
export function Outcome({ attempt: { statusCode, error } }: { readonly attempt: WebhookAttempt }) {
  const words = useWords(webhooksWords);
  if (statusCode !== null) return <span className="num">{statusCode}</span>;
  return error === null ? null : (words.attemptErrors[error] ?? error);
}

/** A time under a head that says its place, with seconds and the day unless it is today. */
function Moment({ at }: { readonly at: string }) {
  const words = useWords(kitWords);
  const { zone, language } = useSettings();
  const zoned = toZoned(at, zone);
  const day = nearDayOf(zoned, useNow().toZonedDateTimeISO(zone), { language, words });
  return (
    <time dateTime={at} title={`${fullOf(zoned, language)} ${placeOf(zone, language)}`}>
      {day !== words.today && `${day}, `}
      {clockWithSecondsOf(zoned)}
    </time>
  );
}
