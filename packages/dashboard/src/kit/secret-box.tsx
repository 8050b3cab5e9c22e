import { CopyButton } from "./copy-button.tsx";
import css from "./secret-box.module.css";

interface SecretBoxProps {
  readonly text: string;
  /** Name of the button that copies it. */
  readonly label: string;
}

/** A key or a secret as it is, with a button that copies it. */
export function SecretBox({ text, label }: SecretBoxProps) {
  return (
    <div className={css.secret}>
      <code>{text}</code>
      <CopyButton text={text} label={label} />
    </div>
  );
}
