import { Type } from "@sinclair/typebox";

/** Types that the interface names more exactly than JSON does; generated clients take them over. */
export const int32 = Type.Integer({ format: "int32" });
export const float = Type.Number({ format: "float" });
export const uuid = Type.String({ format: "uuid" });
