/** Maximum length of the name of a file. */
export const MAX_FILE_NAME = 255;

/** Those that control, end lines, turn the direction of text, or separate parts of a path. */
export const FORBIDDEN_CHARACTERS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}/\\]/gu;
