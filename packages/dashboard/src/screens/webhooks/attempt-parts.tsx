import type { WebhookAttempt, WebhookDelivery } from "@postrider/client";
import { useState } from "react";
import { Tabs } from "../../kit/segments.tsx";
import { useWords } from "../../words/use-words.ts";
import { webhooksWords } from "./webhooks-words.ts";
import css from "./webhooks.module.css";

type Part = "answer" | "headers" | "sent";

interface AttemptPartsProps {
  readonly attempt: WebhookAttempt | undefined;
  readonly payload: WebhookDelivery["payload"];
}

/** What the endpoint answered is a foreign text: it is shown as text, never as anything else. */
export function AttemptParts({ attempt, payload }: AttemptPartsProps) {
  const words = useWords(webhooksWords);
  const [part, setPart] = useState<Part>("answer");
  return (
    <div className="stack-s">
      <Tabs
        label={words.parts}
        value={part}
        segments={[
          { value: "answer", label: words.partAnswer },
          { value: "headers", label: words.partHeaders },
          { value: "sent", label: words.partSent },
        ]}
        onChange={setPart}
      />
      {part === "sent" && (
        <Code label={words.partSent} text={payload === null ? words.notWritten : toJson(payload)} />
      )}
      {part !== "sent" && attempt === undefined && <p className="xs muted">{words.noAttemptYet}</p>}
      {part === "answer" && attempt && <Answer attempt={attempt} />}
      {part === "headers" && attempt && <Headers attempt={attempt} />}
    </div>
  );
}

function Answer({ attempt }: { readonly attempt: WebhookAttempt }) {
  const words = useWords(webhooksWords);
  const { number, statusCode, error, responseBody } = attempt;
  const body = responseBody === null || responseBody === "" ? words.emptyAnswer : responseBody;
  return (
    <>
      <p className="xs muted">{words.attemptNumber(number)}</p>
      {statusCode === null ? (
        <p className="xs">
          {words.noAnswer} {error !== null && <code>{error}</code>}
        </p>
      ) : (
        <Code label={words.partAnswer} text={`HTTP ${statusCode}\n\n${body}`} />
      )}
    </>
  );
}

function Headers({ attempt }: { readonly attempt: WebhookAttempt }) {
  const words = useWords(webhooksWords);
  const parts = [
    [words.requestHeaders, attempt.requestHeaders],
    [words.responseHeaders, attempt.responseHeaders],
  ] as const;
  return parts.map(([label, headers]) => (
    <div key={label} className="stack-s">
      <h3>{label}</h3>
      <Code
        label={label}
        text={Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}`)
          .join("\n")}
      />
    </div>
  ));
}

function Code({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it can be scrolled by keys
    <pre className={css.code} tabIndex={0} role="group" aria-label={label}>
      {text}
    </pre>
  );
}

const toJson = (value: object) => JSON.stringify(value, undefined, 2);
