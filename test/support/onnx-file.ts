import { type BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** Writes the fields of a message. */
export type Fill = (to: BinaryWriter) => void;

export function message(to: BinaryWriter, field: number, fill: Fill): void {
  fill(to.tag(field, WireType.LengthDelimited).fork());
  to.join();
}

export function text(to: BinaryWriter, field: number, value: string): void {
  to.tag(field, WireType.LengthDelimited).string(value);
}

export function whole(to: BinaryWriter, field: number, value: number): void {
  to.tag(field, WireType.Varint).int64(value);
}

export function node(
  to: BinaryWriter,
  operation: string,
  inputs: readonly string[],
  output: string,
): void {
  for (const input of inputs) text(to, 1, input);
  text(to, 2, output);
  text(to, 4, operation);
}

/** An attribute of whole numbers, one or a list of them. */
export function attribute(to: BinaryWriter, name: string, value: number | readonly number[]): void {
  message(to, 5, (inner) => {
    text(inner, 1, name);
    if (typeof value === "number") whole(inner, 3, value);
    else for (const each of value) whole(inner, 8, each);
    whole(inner, 20, typeof value === "number" ? 2 : 7);
  });
}
