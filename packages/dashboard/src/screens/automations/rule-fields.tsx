import { type ReactNode, useId } from "react";
import { Counter } from "../../kit/counter.tsx";
import { FieldError, Input, TextArea } from "../../kit/field.tsx";
import { Select } from "../../kit/select.tsx";
import { accountLabelOf } from "../../posts/account-name.ts";
import { langOf } from "../../posts/lang-of.ts";
import { useAccounts } from "../../posts/use-accounts.ts";
import { useWords } from "../../words/use-words.ts";
import { automationsWords } from "./automations-words.ts";
import css from "./automations.module.css";
import { PostChoice } from "./post-choice.tsx";
import { bytesOf, type Fault, MAX_MESSAGE_BYTES, type RuleDraft } from "./rule-draft.ts";
import { useReplyingAccounts } from "./use-replying-accounts.ts";
import { WordList } from "./word-list.tsx";

interface RuleFieldsProps {
  readonly draft: RuleDraft;
  /** The account of a rule cannot be changed later. */
  readonly isNew: boolean;
  readonly faults: readonly Fault[];
  readonly onChange: (draft: RuleDraft) => void;
}

interface PartProps extends RuleFieldsProps {
  readonly set: (changes: Partial<RuleDraft>) => void;
}

/** A rule reads as a sentence: when, has, but not, send. */
export function RuleFields(props: RuleFieldsProps) {
  const set = (changes: Partial<RuleDraft>) => props.onChange({ ...props.draft, ...changes });
  return (
    <div className={css.sentence}>
      <Name {...props} set={set} />
      <When {...props} set={set} />
      <Words {...props} set={set} />
      <Message {...props} set={set} />
    </div>
  );
}

interface LineProps {
  readonly label: ReactNode;
  readonly fault?: Fault | undefined;
  readonly children: ReactNode;
}

function Line({ label, fault, children }: LineProps) {
  const words = useWords(automationsWords);
  return (
    <>
      <div className={css.lead}>{label}</div>
      <div className="stack-s">
        {children}
        {fault && <FieldError>{words.faults[fault]}</FieldError>}
      </div>
    </>
  );
}

const one = (faults: readonly Fault[], ...own: readonly Fault[]) =>
  faults.find((fault) => own.includes(fault));

function Name({ draft, faults, set }: PartProps) {
  const words = useWords(automationsWords);
  const id = useId();
  return (
    <Line label={<label htmlFor={id}>{words.name}</label>} fault={one(faults, "name")}>
      <Input
        id={id}
        data-fault="name"
        maxLength={200}
        placeholder={words.namePlaceholder}
        value={draft.name}
        onChange={({ target }) => set({ name: target.value })}
      />
    </Line>
  );
}

function When({ draft, isNew, faults, set }: PartProps) {
  const words = useWords(automationsWords);
  const all = useAccounts();
  const accounts = useReplyingAccounts();
  const account = all.get(draft.accountId);
  return (
    <Line label={words.when} fault={one(faults, "account", "posts")}>
      <p className={css.phrase}>
        {words.onAccount}{" "}
        {isNew ? (
          <Select
            label={words.account}
            data-fault="account"
            value={draft.accountId}
            onChange={(accountId) => set({ accountId, mediaIds: null })}
            options={[
              { value: "", label: words.chooseAccount, disabled: true },
              ...accounts.map((account) => ({
                value: account.id,
                label: accountLabelOf(account),
              })),
            ]}
          />
        ) : (
          <b>{account ? accountLabelOf(account) : draft.accountId}</b>
        )}
      </p>
      <PostChoice
        accountId={draft.accountId}
        chosen={draft.mediaIds}
        onChange={(mediaIds) => set({ mediaIds })}
      />
    </Line>
  );
}

function Words({ draft, faults, set }: PartProps) {
  const words = useWords(automationsWords);
  const matches = (["any", "all", "exact"] as const).map((value) => ({
    value,
    label: words.matches[value],
  }));
  return (
    <>
      <Line label={words.has} fault={one(faults, "keywords")}>
        <div className={css.words}>
          <Select
            label={words.match}
            value={draft.match}
            options={matches}
            onChange={(match) => set({ match: match as RuleDraft["match"] })}
          />
          <WordList
            label={words.addWord}
            field="keywords"
            words={draft.keywords}
            onChange={(keywords) => set({ keywords })}
          />
        </div>
        <span className="hint">{words.wordsHint}</span>
      </Line>
      <Line label={words.butNot}>
        <div className={css.words}>
          <WordList
            label={words.addExcluded}
            isExcluded
            words={draft.excludeKeywords}
            onChange={(excludeKeywords) => set({ excludeKeywords })}
          />
        </div>
      </Line>
    </>
  );
}

function Message({ draft, faults, set }: PartProps) {
  const words = useWords(automationsWords);
  const bytes = bytesOf(draft.message);
  const fault = bytes > MAX_MESSAGE_BYTES ? "messageLong" : one(faults, "message");
  return (
    <Line label={words.send} fault={fault}>
      <TextArea
        rows={3}
        data-fault={fault ?? "message"}
        aria-label={words.message}
        aria-invalid={fault !== undefined || undefined}
        lang={langOf(draft.message)}
        value={draft.message}
        onChange={({ target }) => set({ message: target.value })}
      />
      <div className="row">
        <span className="hint">{words.messageHint}</span>
        <span className="push nowrap">
          <Counter count={bytes} max={MAX_MESSAGE_BYTES} unit={words.bytes} />
        </span>
      </div>
    </Line>
  );
}
