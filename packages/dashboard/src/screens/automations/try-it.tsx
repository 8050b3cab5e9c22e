import type { AutomationRule } from "@postrider/client";
import type { TriedRuleJson } from "@postrider/rest/dashboard/automations";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useId, useState } from "react";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Input } from "../../kit/field.tsx";
import { StatusLabel } from "../../kit/status.tsx";
import { langOf } from "../../posts/lang-of.ts";
import { useWords } from "../../words/use-words.ts";
import { automationsApi } from "./automations-api.ts";
import { automationsWords } from "./automations-words.ts";
import css from "./automations.module.css";
import { PastCommentsButton } from "./past-comments.tsx";
import type { RuleDraft } from "./rule-draft.ts";

/** Each trial is a request. */
const REST_MS = 400;

function useRested(text: string): string {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), REST_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
}

interface TryItProps {
  readonly draft: RuleDraft;
  /** As it is saved; undefined for one that does not exist yet. */
  readonly rule: AutomationRule | undefined;
  readonly isChanged: boolean;
}

/** Shows what the rule, as it is written now, does with one text. */
export function TryIt({ draft, rule, isChanged }: TryItProps) {
  const words = useWords(automationsWords);
  const id = useId();
  const [text, setText] = useState("");
  const rested = useRested(text);
  const isWritten = rested.trim() !== "" && text.trim() !== "";
  return (
    <div className={css.tryIt}>
      <h3>
        <label htmlFor={id}>{words.tryIt}</label>
      </h3>
      <Input
        id={id}
        placeholder={words.tryPlaceholder}
        lang={langOf(text)}
        maxLength={10_000}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <div role="status" className="stack-s">
        {isWritten && <Trial draft={draft} text={rested} />}
      </div>
      {rule && <PastCommentsButton rule={rule} isChanged={isChanged} />}
    </div>
  );
}

interface TrialProps {
  readonly draft: RuleDraft;
  readonly text: string;
}

function Trial({ draft, text }: TrialProps) {
  const words = useWords(automationsWords);
  const { keywords, match, excludeKeywords, message } = draft;
  const lists = { keywords: [...keywords], excludeKeywords: [...excludeKeywords] };
  // The answer would only repeat the message, which may still be too long.
  const rule = { ...lists, match, message: "" };
  const { data, error } = useQuery({
    ...automationsApi.trial({ rule, text }),
    enabled: keywords.length > 0,
  });
  if (keywords.length === 0) return <span className="hint">{words.tryFirst}</span>;
  if (error !== null) return <ErrorNotice error={error} />;
  return (
    <>
      {data && <Outcome tried={data} />}
      {data?.outcome === "reply" && message.trim() !== "" && (
        <p className={css.wouldSend} lang={langOf(message)}>
          {message}
        </p>
      )}
    </>
  );
}

function Outcome({ tried: { outcome, keywords, excluded } }: { readonly tried: TriedRuleJson }) {
  const words = useWords(automationsWords);
  const quoted = (list: readonly string[]) => list.map((word) => `“${word}”`).join(", ");
  if (outcome === "reply")
    return <StatusLabel status="ready">{words.wouldReply(quoted(keywords))}</StatusLabel>;
  return (
    <StatusLabel status="skipped">
      {outcome === "excluded" ? words.excluded(quoted(excluded)) : words.noMatch}
    </StatusLabel>
  );
}
