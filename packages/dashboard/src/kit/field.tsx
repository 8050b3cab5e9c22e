import { CircleX } from "lucide-react";
import {
  type InputHTMLAttributes,
  type ReactNode,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import { classNames } from "./class-names.ts";
import css from "./field.module.css";

/** Attributes that tie a control to its label, hint and error. */
export interface ControlProps {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": true | undefined;
}

interface FieldProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  /** Stands in place of the hint. */
  readonly error?: ReactNode;
  /** At the end of the line of the hint. */
  readonly counter?: ReactNode;
  readonly children: (control: ControlProps) => ReactNode;
}

/** A control with its label above it, and hint or error below it. */
export function Field({ label, hint, error, counter, children }: FieldProps) {
  const id = useId();
  const below = `${id}-below`;
  const isDescribed = Boolean(error ?? hint);
  return (
    <div className={css.field}>
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        "aria-describedby": isDescribed ? below : undefined,
        "aria-invalid": error ? true : undefined,
      })}
      {(isDescribed || counter) && (
        <span className="row hint">
          {error ? <FieldError id={below}>{error}</FieldError> : <span id={below}>{hint}</span>}
          {counter && <span className="push">{counter}</span>}
        </span>
      )}
    </div>
  );
}

export function FieldError({
  id,
  children,
}: {
  readonly id?: string;
  readonly children: ReactNode;
}) {
  return (
    <span className={css.error} id={id}>
      <CircleX className="i i-s" />
      <span>{children}</span>
    </span>
  );
}

type InputProps = InputHTMLAttributes<HTMLInputElement>;

export function Input({ className, ...props }: InputProps) {
  return <input className={classNames(css.input, className)} autoComplete="off" {...props} />;
}

export function TextArea({ className, ...props }: TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return <textarea className={classNames(css.input, className)} {...props} />;
}

interface CheckProps extends InputProps {
  readonly children: ReactNode;
}

/** Takes effect with the button that saves. For one of several, `type="radio"`. */
export function Checkbox({ children, ...props }: CheckProps) {
  return (
    <label className={css.check}>
      <input type="checkbox" {...props} />
      <span>{children}</span>
    </label>
  );
}

/** Takes effect at once. */
export function Switch({ children, ...props }: CheckProps) {
  return (
    <label className={css.switch}>
      <input type="checkbox" role="switch" aria-checked={props.checked ?? false} {...props} />
      <span>{children}</span>
    </label>
  );
}
