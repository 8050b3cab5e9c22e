import type { EventType, Webhook, WebhookSigning } from "@postrider/client";
import { Checkbox, Field, FieldError, Input } from "../../kit/field.tsx";
import { SecretBox } from "../../kit/secret-box.tsx";
import { useWords } from "../../words/use-words.ts";
import type { EndpointDraft, EndpointFaults } from "./endpoint-draft.ts";
import { type EventGroup, groupTypes, toggleFilter } from "./event-filters.ts";
import { webhooksWords } from "./webhooks-words.ts";
import css from "./webhooks.module.css";

interface FieldsProps {
  readonly endpoint: Webhook | undefined;
  readonly draft: EndpointDraft;
  readonly faults: Partial<EndpointFaults>;
  readonly onChange: (changed: Partial<EndpointDraft>) => void;
}

export function EndpointFields({ endpoint, draft, faults, onChange }: FieldsProps) {
  const words = useWords(webhooksWords);
  return (
    <>
      <Field label={words.url} hint={words.urlHint} error={faults.url}>
        {(control) => (
          <Input
            {...control}
            data-first
            type="url"
            inputMode="url"
            maxLength={2048}
            value={draft.url}
            onChange={({ target }) => onChange({ url: target.value })}
          />
        )}
      </Field>
      <Field label={words.description} hint={words.descriptionHint} error={faults.description}>
        {(control) => (
          <Input
            {...control}
            maxLength={500}
            value={draft.description}
            onChange={({ target }) => onChange({ description: target.value })}
          />
        )}
      </Field>
      <Events draft={draft} fault={faults.events} onChange={onChange} />
      {endpoint === undefined && <Signing draft={draft} onChange={onChange} />}
      {endpoint && <PublicKey value={endpoint.publicKey} />}
      <Field label={words.rate} hint={words.rateHint} error={faults.rate}>
        {(control) => (
          <Input
            {...control}
            className={css.rate}
            inputMode="numeric"
            value={draft.rate}
            onChange={({ target }) => onChange({ rate: target.value })}
          />
        )}
      </Field>
    </>
  );
}

interface PartProps {
  readonly draft: EndpointDraft;
  readonly fault?: string | undefined;
  readonly onChange: (changed: Partial<EndpointDraft>) => void;
}

function Events({ draft: { isEverything, chosen }, fault, onChange }: PartProps) {
  const words = useWords(webhooksWords);
  const groups = groupTypes(Object.keys(words.events) as EventType[]);
  return (
    <fieldset className="stack-s">
      <legend className={css.legend}>{words.which}</legend>
      <Checkbox
        type="radio"
        name="which"
        checked={isEverything}
        onChange={() => onChange({ isEverything: true })}
      >
        {words.everything}
      </Checkbox>
      <Checkbox
        type="radio"
        name="which"
        checked={!isEverything}
        onChange={() => onChange({ isEverything: false })}
      >
        {words.chosen}
      </Checkbox>
      {!isEverything && (
        <div className={css.groups}>
          {groups.map((group) => (
            <Group
              key={group.filter}
              group={group}
              chosen={chosen}
              onChange={(after) => onChange({ chosen: after })}
            />
          ))}
        </div>
      )}
      {fault !== undefined && <FieldError>{fault}</FieldError>}
    </fieldset>
  );
}

interface GroupProps {
  readonly group: EventGroup;
  readonly chosen: EndpointDraft["chosen"];
  readonly onChange: (chosen: EndpointDraft["chosen"]) => void;
}

/** A group that is chosen contains its types, so that they are not offered on their own. */
function Group({ group: { filter, types }, chosen, onChange }: GroupProps) {
  const words = useWords(webhooksWords);
  const isWhole = chosen.includes(filter);
  return (
    <div className="stack-s">
      <Checkbox checked={isWhole} onChange={() => onChange(toggleFilter(chosen, filter))}>
        <code>{words.wholeGroup(filter)}</code>
      </Checkbox>
      {!isWhole &&
        types.map((type) => (
          <span key={type} className={css.type}>
            <Checkbox
              checked={chosen.includes(type)}
              onChange={() => onChange(toggleFilter(chosen, type))}
            >
              <code>{type}</code> <span className="hint">{words.events[type]}</span>
            </Checkbox>
          </span>
        ))}
    </div>
  );
}

const SIGNINGS: readonly (readonly [WebhookSigning, "hmac" | "ed25519"])[] = [
  ["hmac-sha256", "hmac"],
  ["ed25519", "ed25519"],
];

function Signing({ draft, onChange }: PartProps) {
  const words = useWords(webhooksWords);
  return (
    <fieldset className="stack-s">
      <legend className={css.legend}>{words.signing}</legend>
      {SIGNINGS.map(([signing, word]) => (
        <Checkbox
          key={signing}
          type="radio"
          name="signing"
          checked={draft.signing === signing}
          onChange={() => onChange({ signing })}
        >
          {words[word]}
        </Checkbox>
      ))}
      <span className="hint">{words.signingHint}</span>
    </fieldset>
  );
}

/** Null where a secret signs. */
function PublicKey({ value }: { readonly value: string | null }) {
  const words = useWords(webhooksWords);
  if (value === null) return null;
  return (
    <div className="stack-s">
      <span className={css.legend}>{words.publicKey}</span>
      <SecretBox text={value} label={words.copyPublicKey} />
    </div>
  );
}
