import { type ClipboardEvent, type DragEvent, type ReactNode, useRef, useState } from "react";
import { classNames } from "../kit/class-names.ts";
import css from "./media.module.css";

const ACCEPTED = "image/*,video/mp4,video/quicktime,video/webm,.heic,.heif";

interface AddFilesProps {
  readonly label: string;
  readonly onFiles: (files: Iterable<File>) => void;
  readonly children: ReactNode;
  readonly className?: string | undefined;
}

/** A place where files are dropped, and a button that lets choose them. */
export function AddFiles({ label, onFiles, children, className }: AddFilesProps) {
  const input = useRef<HTMLInputElement>(null);
  const { isOver, ...drop } = useDrop(onFiles);
  return (
    <>
      <button
        type="button"
        className={classNames(css.add, isOver && css.over, className)}
        onClick={() => input.current?.click()}
        {...drop}
      >
        {children}
      </button>
      <FileInput ref={input} label={label} onFiles={onFiles} />
    </>
  );
}

interface FileInputProps extends Pick<AddFilesProps, "label" | "onFiles"> {
  readonly ref: React.Ref<HTMLInputElement>;
}

/** Opened by a button beside it, so that it is neither seen nor reached by the keyboard itself. */
export function FileInput({ ref, label, onFiles }: FileInputProps) {
  return (
    <input
      ref={ref}
      type="file"
      multiple
      hidden
      aria-label={label}
      accept={ACCEPTED}
      onChange={({ target }) => {
        onFiles([...(target.files ?? [])]);
        target.value = "";
      }}
    />
  );
}

/** Takes files that are dragged onto an element; other things are left to the browser. */
export function useDrop(onFiles: (files: Iterable<File>) => void) {
  const [isOver, setOver] = useState(false);
  const isFiles = (event: DragEvent) => event.dataTransfer.types.includes("Files");
  return {
    isOver,
    onDragOver: (event: DragEvent) => {
      if (!isFiles(event)) return;
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      if (!isFiles(event)) return;
      event.preventDefault();
      event.stopPropagation();
      setOver(false);
      onFiles([...event.dataTransfer.files]);
    },
  };
}

/** Takes pasted files; pasted text goes where it would go. */
export function pasteFiles(event: ClipboardEvent, onFiles: (files: Iterable<File>) => void): void {
  const files = [...event.clipboardData.files];
  if (files.length === 0) return;
  event.preventDefault();
  onFiles(files);
}
