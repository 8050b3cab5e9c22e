/** An account setting that has one of several values. */
export interface ChoiceField<V extends string> {
  readonly kind: "choice";
  readonly values: readonly V[];
  readonly default: V;
  readonly description: string;
}

/** An account setting that is on or off. */
export interface FlagField {
  readonly kind: "flag";
  readonly default: boolean;
  readonly description: string;
}

/** The form that the text of an account setting must have. */
interface TextForm {
  /** Regular expression that matches the whole text; linear in the length of the text. */
  readonly pattern: string;
  /** Maximum length of a setting's text in UTF-16 units. */
  readonly maxLength: number;
}

/** A setting that is a text of a given form. If its default is null, null means that nothing is chosen. */
export interface TextField<D extends string | null> extends TextForm {
  readonly kind: "text";
  readonly default: D;
  readonly description: string;
}

/** A setting that is a list of texts of a given form, none of them twice; it is empty by default. */
export interface ListField {
  readonly kind: "list";
  readonly item: TextForm;
  readonly maxItems: number;
  readonly default: readonly string[];
  readonly description: string;
}

export type SettingField =
  | ChoiceField<string>
  | FlagField
  | TextField<string>
  | TextField<string | null>
  | ListField;

/** A value of any account setting. */
export type SettingValue = SettingField["default"];

/** The settings that the accounts of a platform have, by name. */
export type SettingFields = Readonly<Record<string, SettingField>>;

/** The TypeScript type of the value of an account setting. */
type ValueOf<F> =
  F extends ChoiceField<infer V>
    ? V
    : F extends FlagField
      ? boolean
      : F extends ListField
        ? readonly string[]
        : F extends TextField<infer D>
          ? D extends string
            ? string
            : string | null
          : never;

/** The values of all settings of an account. */
export type SettingsOf<F extends SettingFields> = {
  readonly [Name in keyof F]: F[Name] extends TextField<null> ? string | null : ValueOf<F[Name]>;
};

export function choice<const V extends string>(
  values: readonly V[],
  preset: NoInfer<V>,
  description: string,
): ChoiceField<V> {
  return { kind: "choice", values, default: preset, description };
}

export function flag(preset: boolean, description: string): FlagField {
  return { kind: "flag", default: preset, description };
}
