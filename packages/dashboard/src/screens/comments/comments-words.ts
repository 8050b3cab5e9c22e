import { commentsEn } from "./words-en.ts";
import { commentsKo } from "./words-ko.ts";

export const commentsWords = { en: commentsEn, ko: commentsKo };
