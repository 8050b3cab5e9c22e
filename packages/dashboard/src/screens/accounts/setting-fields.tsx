import type { AccountSettings } from "@postrider/client";
import { Checkbox, Field, FieldError, Input } from "../../kit/field.tsx";
import { Select } from "../../kit/select.tsx";
import { distanceOf } from "../../time/format-time.ts";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import {
  CHOICES,
  type ChoiceName,
  isRefused,
  maxVideoSeconds,
  type SettingName,
  SETTINGS,
  type SettingValues,
} from "./account-setting.ts";
import css from "./accounts.module.css";
import { settingWords } from "./setting-words.ts";

interface SettingFieldsProps {
  readonly read: AccountSettings;
  readonly values: SettingValues;
  readonly faults: ReadonlyMap<string, string> | undefined;
  readonly isReadOnly: boolean;
  readonly onChange: (changed: SettingValues) => void;
}

export function SettingFields(props: SettingFieldsProps) {
  const { read, values, faults, isReadOnly, onChange } = props;
  const words = useWords(settingWords);
  const kit = useWords(kitWords);
  const seconds = maxVideoSeconds(read);
  return (
    <fieldset className="stack" disabled={isReadOnly} aria-label={words.settings}>
      {SETTINGS[read.platform].map((name) => {
        const value = values[name] ?? "";
        const given = { read, name, fault: faults?.get(name) };
        const change = (changed: boolean | string) => onChange({ [name]: changed });
        return typeof value === "boolean" ? (
          <YesNo key={name} {...given} value={value} onChange={change} />
        ) : (
          <Text key={name} {...given} value={value} onChange={change} />
        );
      })}
      {seconds !== undefined && (
        <p className="xs muted">{words.longest(distanceOf(seconds * 1000, kit.distance))}</p>
      )}
    </fieldset>
  );
}

interface SettingProps<T> {
  readonly read: AccountSettings;
  readonly name: SettingName;
  readonly value: T;
  readonly fault: string | undefined;
  readonly onChange: (value: T) => void;
}

function YesNo({ read, name, value, fault, onChange }: SettingProps<boolean>) {
  const words = useWords(settingWords);
  const isOff = isRefused(read, name, "true");
  const hint = isOff ? words.notOffered : words.hints[name];
  return (
    <div className={css.yesNo}>
      {/* What is not offered can be switched off, but not on. */}
      <Checkbox
        checked={value}
        disabled={isOff && !value}
        onChange={({ target }) => onChange(target.checked)}
      >
        {words.labels[name]}
        {hint !== undefined && (
          <>
            <br />
            <span className="hint">{hint}</span>
          </>
        )}
      </Checkbox>
      {fault !== undefined && <FieldError>{fault}</FieldError>}
    </div>
  );
}

const isChoice = (name: SettingName): name is ChoiceName => name in CHOICES;

/** One of a few values, or a text. */
function Text({ read, name, value, fault, onChange }: SettingProps<string>) {
  const words = useWords(settingWords);
  const label = words.labels[name];
  return (
    <Field label={label} hint={words.hints[name]} error={fault}>
      {(control) =>
        isChoice(name) ? (
          <Select
            {...control}
            edge
            label={label}
            value={value}
            options={Object.entries<string>(words.choices[name]).map(([one, text]) => ({
              value: one,
              label: text,
              disabled: one !== value && isRefused(read, name, one),
            }))}
            onChange={onChange}
          />
        ) : (
          <Input {...control} value={value} onChange={({ target }) => onChange(target.value)} />
        )
      }
    </Field>
  );
}
