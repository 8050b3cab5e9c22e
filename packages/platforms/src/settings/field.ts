export const imageFit = choice(
  ["refuse", "pad", "crop"],
  "refuse",
  "What happens to a picture whose proportions the platform does not accept: `refuse` = the post is refused, `pad` = it gets white borders, `crop` = its edges are cut off.",
);

interface ChoiceField<V extends string> {
  readonly kind: "choice";
  readonly values: readonly V[];
  readonly default: V;
  readonly description: string;
}

interface FlagField {
  readonly kind: "flag";
  readonly default: boolean;
  readonly description: string;
}

/** The form that the text of an account setting must have. */
interface TextForm {
  /** Regular expression that matches the whole text; linear in the length of the text. */
  readonly pattern: string;
  readonly maxLength: number;
}

/**
 * A setting that is a text of a given form. If its default is null, null means that nothing is
 * chosen.
 */
export interface TextField<D extends string | null> extends TextForm {
  readonly kind: "text";
  readonly default: D;
  readonly description: string;
}

/**
 * A setting that is a list of texts of a given form, none of them twice; it is empty by default.
 */
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

export type SettingValue = SettingField["default"];

export type SettingFields = Readonly<Record<string, SettingField>>;

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
