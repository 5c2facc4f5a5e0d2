/** Files and images that go with a prompt (`--file`, `--image`). */
import { ConfigurationError, FileError } from "../base/errors.ts";
import { readFileBounded } from "../base/files.ts";
import { LIMITS } from "../base/limits.ts";
import { decodeUtf8 } from "../base/text.ts";
import { basename, extname, resolve } from "../deps/path.ts";
import type { FileBlock, ImageBlock } from "../model/message.ts";

/** What was read: text that is added to the prompt, and media that stand beside it, in order. */
export interface Attachments {
  /** Fenced blocks, joined by a blank line; empty when there is no text file. */
  readonly text: string;
  readonly media: readonly (FileBlock | ImageBlock)[];
}

/**
 * Reads what was attached. Text files become fenced blocks; PDFs and images become media.
 *
 * @throws FileError naming the file that cannot be read or sent
 * @throws ConfigurationError when all together are too large
 */
export async function readAttachments(
  directory: string,
  { files, images }: { files: readonly string[]; images: readonly string[] },
): Promise<Attachments> {
  const blocks: string[] = [];
  const media: (FileBlock | ImageBlock)[] = [];
  const fileSize = new SizeLimit("--file", LIMITS.attachedFileBytes);
  for (const path of files) {
    const bytes = fileSize.add(path, await readFileBounded(resolve(directory, path), LIMITS.attachedFileBytes));
    if (startsWith(bytes, "%PDF-")) {
      media.push({ type: "file", name: basename(path), mediaType: "application/pdf", data: toBase64(bytes) });
    } else {
      blocks.push(fenced(path, bytes));
    }
  }
  const imageSize = new SizeLimit("--image", LIMITS.attachedImageBytes);
  for (const image of images) {
    if (/^https?:\/\//.test(image)) {
      media.push({ type: "image", url: image });
      continue;
    }
    const bytes = imageSize.add(image, await readFileBounded(resolve(directory, image), LIMITS.attachedImageBytes));
    media.push({ type: "image", url: `data:${imageType(image, bytes)};base64,${toBase64(bytes)}` });
  }
  return { text: blocks.join("\n\n"), media };
}

class SizeLimit {
  readonly #flag: string;
  readonly #limit: number;
  #total = 0;

  constructor(flag: string, limit: number) {
    this.#flag = flag;
    this.#limit = limit;
  }

  add(path: string, bytes: Uint8Array): Uint8Array {
    this.#total += bytes.length;
    if (this.#total > this.#limit) {
      throw new ConfigurationError(
        `${this.#flag} ${path}: all of them together are over the limit of ${this.#limit} bytes`,
      );
    }
    return bytes;
  }
}

/** The file's text between fences that are longer than any run of backticks in it. */
function fenced(path: string, bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text === undefined) {
    throw new FileError(`cannot attach ${path}: it is neither UTF-8 text nor a PDF (images go with --image)`);
  }
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(Math.max(3, longest + 1));
  return `${fence}${path}\n${text}\n${fence}`;
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};

/** The media type by the first bytes, else by the name. */
function imageType(path: string, bytes: Uint8Array): string {
  if (startsWith(bytes, "\x89PNG\r\n\x1a\n")) return "image/png";
  if (startsWith(bytes, "\xff\xd8\xff")) return "image/jpeg";
  if (startsWith(bytes, "GIF87a") || startsWith(bytes, "GIF89a")) return "image/gif";
  if (startsWith(bytes, "RIFF") && startsWith(bytes.subarray(8), "WEBP")) return "image/webp";
  const type = EXTENSIONS[extname(path).toLowerCase()];
  if (type !== undefined) return type;
  throw new FileError(`cannot attach ${path}: it is no PNG, JPEG, GIF or WebP image, by its content or its name`);
}

function startsWith(bytes: Uint8Array, text: string): boolean {
  return bytes.length >= text.length && [...text].every((character, index) => bytes[index] === character.charCodeAt(0));
}

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let start = 0; start < bytes.length; start += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  }
  return btoa(binary);
}
