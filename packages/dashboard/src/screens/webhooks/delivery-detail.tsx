import type { Webhook, WebhookAttempt, WebhookDelivery } from "@postrider/client";
import { useMutation } from "@tanstack/react-query";
import { RotateCcw, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useKeys } from "../../keys/use-keys.ts";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { classNames } from "../../kit/class-names.ts";
import { CopyButton } from "../../kit/copy-button.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { StatusIcon } from "../../kit/status.tsx";
import { showToast } from "../../kit/toast.tsx";
import { useCan } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import { AttemptParts } from "./attempt-parts.tsx";
import { DeliveryAttempts } from "./delivery-attempts.tsx";
import { hrefOf } from "./use-webhook-choice.ts";
import { webhooksApi } from "./webhooks-api.ts";
import { webhooksWords } from "./webhooks-words.ts";
import css from "./webhooks.module.css";

interface DeliveryDetailProps {
  readonly endpoint: Webhook;
  readonly delivery: WebhookDelivery;
}

/** What became of one delivery: each attempt, what it sent, and what came back. */
export function DeliveryDetail({ endpoint, delivery }: DeliveryDetailProps) {
  const words = useWords(webhooksWords);
  const [number, setNumber] = useState<number>();
  const box = useRef<HTMLDivElement>(null);
  // Below the list it is out of sight when it is opened. Newer browsers return a promise, which is
  // not a cleanup.
  useEffect(() => {
    box.current?.scrollIntoView({ block: "nearest" });
  }, []);
  const { status, eventType, eventId, attempts } = delivery;
  const shown: WebhookAttempt | undefined =
    attempts.find((attempt) => attempt.number === number) ?? attempts.at(-1);
  return (
    <div ref={box} className={css.detail}>
      <Card
        mark={<StatusIcon status={status} />}
        title={<code>{eventType}</code>}
        actions={<CloseButton endpointId={endpoint.id} />}
        footer={
          <span className={classNames("row", css.eventId)}>
            <code className="clip">webhook-id {eventId}</code>
            <CopyButton text={eventId} label={words.copyId} />
          </span>
        }
      >
        <div className="stack pad">
          <Summary endpoint={endpoint} delivery={delivery} />
          <DeliveryAttempts delivery={delivery} shown={shown?.number} onShow={setNumber} />
          <AttemptParts attempt={shown} payload={delivery.payload} />
        </div>
      </Card>
    </div>
  );
}

function CloseButton({ endpointId }: { readonly endpointId: string }) {
  const words = useWords(webhooksWords);
  const [, navigate] = useLocation();
  const close = () => navigate(hrefOf(endpointId));
  useKeys({
    escape: close,
    r: () => document.querySelector<HTMLElement>("[data-key='r']")?.click(),
  });
  return <Button kind="ghost" small icon={X} aria-label={words.close} onClick={close} />;
}

/** The state in a sentence; a reader is told when it changes. */
function Summary({ endpoint, delivery }: DeliveryDetailProps) {
  const words = useWords(webhooksWords);
  const canWrite = useCan()("webhooks:write");
  const isFailed = delivery.status === "failed";
  const sending = useMutation({
    mutationFn: () => webhooksApi.sendAgain(endpoint.id, [delivery.id]),
    onSuccess: () => showToast(words.sentAgain),
  });
  return (
    <div className="stack-s">
      <p className="sm" role="status">
        <b>{sentenceOf(delivery, words)}</b>{" "}
        {isFailed && delivery.error === null && words.notByItself}
      </p>
      {isFailed && canWrite && endpoint.status === "active" && (
        <Button
          kind="primary"
          icon={RotateCcw}
          shortcut="R"
          data-key="r"
          className={css.again}
          busy={sending.isPending}
          onClick={() => sending.mutate()}
        >
          {words.sendAgain}
        </Button>
      )}
      {isFailed && canWrite && endpoint.status !== "active" && (
        <p className="hint">{words.onlyActive}</p>
      )}
      {sending.error !== null && <ErrorNotice error={sending.error} />}
    </div>
  );
}

function sentenceOf(
  { status, attemptCount, error }: WebhookDelivery,
  words: (typeof webhooksWords)["en"],
): string {
  return {
    succeeded: words.delivered(attemptCount),
    failed: error === "backlog_full" ? words.backlogFull : words.failedAfter(attemptCount),
    pending: attemptCount === 0 ? words.pendingFirst : words.pending,
    delivering: words.delivering,
    cancelled: words.cancelled,
  }[status];
}
