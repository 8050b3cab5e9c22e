import type { CreatedDashboardApiKey } from "@postrider/rest/dashboard/api-key-schemas";
import { useMutation } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Checkbox, Field, FieldError, Input } from "../../kit/field.tsx";
import { Select } from "../../kit/select.tsx";
import { useSession } from "../../session/session-context.ts";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { keysApi } from "./keys-api.ts";
import { keysWords } from "./keys-words.ts";
import css from "./keys.module.css";
import { SCOPES, seesEverything } from "./scopes.ts";

const DAYS = { never: undefined, days30: 30, days90: 90, year: 365 } as const;
type Ending = keyof typeof DAYS;

interface NewKeyProps {
  readonly onClose: () => void;
  readonly onMade: (made: CreatedDashboardApiKey) => void;
}

function toExpiry(ending: Ending): { readonly expiresAt?: string } {
  const days = DAYS[ending];
  if (days === undefined) return {};
  const end = Temporal.Now.instant().add({ hours: days * 24 });
  return { expiresAt: end.toString({ smallestUnit: "second" }) };
}

interface Draft {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly ending: Ending;
}

const isComplete = ({ name, scopes }: Draft) => name.trim() !== "" && scopes.length > 0;

/** The faults are shown after the button was pressed once. */
export function NewKey({ onClose, onMade }: NewKeyProps) {
  const words = useWords(keysWords);
  const kit = useWords(kitWords);
  const form = useId();
  const [draft, setDraft] = useState<Draft>({ name: "", scopes: [], ending: "never" });
  const [isChecked, setChecked] = useState(false);
  const making = useMutation({
    mutationFn: ({ name, scopes, ending }: Draft) =>
      keysApi.create({ name: name.trim(), scopes: [...scopes], ...toExpiry(ending) }),
    onSuccess: onMade,
  });
  return (
    <Dialog
      title={words.newKey}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{kit.cancel}</Button>
          <Button kind="primary" type="submit" form={form} busy={making.isPending}>
            {words.make}
          </Button>
        </>
      }
    >
      <form
        id={form}
        className={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          setChecked(true);
          if (isComplete(draft)) making.mutate(draft);
        }}
      >
        <Fields
          draft={draft}
          isChecked={isChecked}
          onChange={(changed) => setDraft({ ...draft, ...changed })}
        />
        {making.error !== null && <ErrorNotice error={making.error} />}
      </form>
    </Dialog>
  );
}

interface FieldsProps {
  readonly draft: Draft;
  readonly isChecked: boolean;
  readonly onChange: (changed: Partial<Draft>) => void;
}

function Fields({ draft: { name, scopes, ending }, isChecked, onChange }: FieldsProps) {
  const words = useWords(keysWords);
  const endings = Object.keys(DAYS).map((value) => ({
    value,
    label: words.endings[value as Ending],
  }));
  return (
    <>
      <Field
        label={words.name}
        hint={words.nameHint}
        error={isChecked && name.trim() === "" ? words.nameMissing : undefined}
      >
        {(control) => (
          <Input
            {...control}
            maxLength={200}
            value={name}
            onChange={({ target }) => onChange({ name: target.value })}
          />
        )}
      </Field>
      <ScopeList
        chosen={scopes}
        isChecked={isChecked}
        onChange={(chosen) => onChange({ scopes: chosen })}
      />
      <Field label={words.endsAfter}>
        {(control) => (
          <Select
            {...control}
            edge
            label={words.endsAfter}
            value={ending}
            options={endings}
            onChange={(value) => onChange({ ending: value as Ending })}
          />
        )}
      </Field>
    </>
  );
}

interface ScopeListProps {
  readonly chosen: readonly string[];
  readonly onChange: (scopes: readonly string[]) => void;
  readonly isChecked: boolean;
}

function ScopeList({ chosen, onChange, isChecked }: ScopeListProps) {
  const words = useWords(keysWords);
  const own = useSession().scopes;
  const toggle = (scope: string) =>
    onChange(chosen.includes(scope) ? chosen.filter((one) => one !== scope) : [...chosen, scope]);
  return (
    <fieldset>
      <legend className={css.legend}>{words.scopes}</legend>
      <div className={css.scopes}>
        {SCOPES.filter((scope) => own.includes(scope)).map((scope) => (
          <Checkbox key={scope} checked={chosen.includes(scope)} onChange={() => toggle(scope)}>
            <code className="xs">{scope}</code>
          </Checkbox>
        ))}
      </div>
      {isChecked && chosen.length === 0 ? (
        <FieldError>{words.scopesMissing}</FieldError>
      ) : (
        <span className="hint">
          {words.scopesHint} {seesEverything(chosen) && words.seesEverything}
        </span>
      )}
    </fieldset>
  );
}
