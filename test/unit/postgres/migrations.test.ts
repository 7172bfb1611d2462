import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, it } from "vitest";

const FOLDER = new URL("../../../src/postgres/migrations/", import.meta.url);
/** Those that the base file stands for. */
const CONTAINED = new URL("before-2.0/", FOLDER);

/**
 * SHA-256 of each migration that databases may have applied. Such a file is never changed, renamed
 * or folded into another: a service whose files differ refuses those databases. New ones are added.
 */
const APPLIED: Readonly<Record<string, string>> = {
  "0001_foundation.sql": "63ddc1bc4a46a905d3707d466024820f487aecfe33dffc1908deeddd998894af",
  "0002_edits.sql": "68448259bec5aa2fb84fb8bd0ffea10b153c1561df7d885eb5abdaf8efd065d4",
  "0003_audit.sql": "abe81c2c484f6f630e4246537d773f546c5a1bb4bec9159020f0f0d6de5c25d9",
  "0004_trust.sql": "9777f213a88c77a48a7f1c4340caeee57964a762955f7b89fd6d35e9bdb7064f",
  "0005_identity.sql": "fa16ca4ab2615e13075126bfa693848a7d1bae496a4bf183bed1c0779f176b67",
  "0006_groups.sql": "2c738601792a3e75466de18e94cf9dc289cf04aea770437b709ba0b3250e1d51",
  "0007_webhooks.sql": "8d72c69c859309ac172f9e95062811abbf150d86cfb2bf1a4509a8286b7be9c6",
  "0008_summaries.sql": "6b38d7f4db7e02e47c91aa670b96723c3a6ce61f01b570856080d7a6b138e2b8",
  "0009_search.sql": "22b1732a4fb95b5d60e76903b65bbef8e5ff2b29805e6a8711b5a04b3d0e07e3",
  "0010_graph.sql": "99cf1bc9261cc62926a99333aa442163c7313132ffc548f044ce8d47ea056cf9",
  "0011_sessions.sql": "b1a2336212781554a92a8229b7db8147fe7e3bc5294cdc8ce812e85684663fe9",
  "0012_idempotency.sql": "56169bd01b5de477efc6623f3fbc16372265b74743c99b8e63278ca6f939fd6f",
  "0013_logins.sql": "e8a23f218e02a6bca9fea9f1e70cb3f69e29d2bb1c90decfcc2e17569a6fdb4c",
  "0014_audio_streams.sql": "02fd5c6596d3a7d3cc418d8acdae8c24f33b921f36e32209151c0bde65183ca8",
  "0015_presence.sql": "706275de488f5e7416d11906647bec426d3823cc33c9737a2f8656ce1a3e20f5",
  "0017_suspects.sql": "faba7b5fc7a9a6a9f46af262864119a3d28b6bcebda89d2d252710553bc3ded4",
  "0018_command_outcomes.sql": "d3d09a9c7c19fd7c59838dfd557d9a6c008bf8d378822724da374e5f5473dfeb",
  "0020_chunk_groups.sql": "f3431970011a22229fbebc104b2f5342b6ac1d934de207decde230f72fc79990",
  "0021_segment_language.sql": "6513a332a6da8428febd0f3759fef9b7078fd5f538b54de3a25dae7168041a53",
  "0022_chunk_group_plans.sql": "a17f2f4f127eb9a6d9479fbce2712948d0a3a6b49b2ef78ed186f04ef2269fb1",
  "0023_audio_folder.sql": "7e4b605ea509c8988df7f8f08cdc346933c2ecef9db2fe0a8f826154206e55f6",
  "0024_one_installation.sql": "43aca406ad8f242aa286a86eaed98b0e6bec92ec78fd4a54399f33df11f32509",
  "0026_broken_spans.sql": "b403d85ecc36976d06e0c26bfa29c74b7df3e92638f280b6d8536f523981edd6",
  "0028_reading_positions.sql": "04277e0820cdb62006985f541adbf7c7ed475df81eb24ee09133300dd19c4f51",
  "0029_checkpoint_voices.sql": "5906c5ca42f678668d267e6bc60f0646df0e510d7af495aeb27c6e6b0aad48fe",
  "0030_late_audio.sql": "df0193ef95568d55bad9a57e094e9b298bba904ec83e7843aaa0750cfa9a94e6",
  "0031_silenced_audio.sql": "c0791265af6f73c482295059f1e20e9ce5f57e212690ae72c85bc42c7e449a23",
  "0032_open_work.sql": "bb1ca7b34cbc17b896ecb2d02742a2fa4b069624d22e4160e904e99e0b8242a7",
  "0033_snapshots_by_version.sql":
    "e51da2aa2d58f727216596fdd9b05f6fb1a76cb0d4a4728ace44432794ee5197",
  "0034_owners.sql": "1508fc72d98123ed2baa4e31110f35c90c34c66ac9939fc0ce3cde375f5948d1",
  "0035_partitions.sql": "dcca35a468256462fde9c36df4627336938948d477f83587074782e77f4f472b",
  "0036_ended_rights.sql": "6baf1d749349c611d0f6466b052d44a1af53ecf737b10787130acbc8107614cf",
  "0037_snapshots.sql": "1981018eaf8086368a5747554c0fe7dcc22edecbb850f0331441c5e100c53d50",
  "0038_waiting_work.sql": "5e7a9d54ba175b9b89f86beccdfea46e83a8bb9ea5c3a0879bf2a2045d356251",
  "0039_redacted_audio.sql": "ffdee9ae1266bc6971f5f240963b779b75627bb25f17ca5f72303118e6b88d53",
  "0040_seen_sessions.sql": "0fbae097ce7d5dda3325bdee74bee5cff82a4899fd2632af7576d7a7efb0f1ef",
  "0044_invitations.sql": "6c2838bb0f9baf4c5b86cf89cafcfd04c5310f16555f067c4377ca47da883616",
  "0041_guests.sql": "a1dbc997f333b16924c894edb89c063d732c42bb938c85d2c9ce6550e97d89c7",
  "0045_makers.sql": "515ec87697e6ce2a951ed750ae9374b9de6d450b1c0f35f7b803ed1c6b500e79",
  "0047_mail_addresses.sql": "89880ad07cc5c4a4e91c9e170687d00ecf229d2de6b8eaf7a6974ca8a25bc6c6",
  "0043_workspace_elevations.sql":
    "9e905de611e9cb8441a8a91fcdec0b44fdcf3ae5c0fc051f8094539a96abcef6",
  "0048_sign_in_places.sql": "c8829d33ae63903da76efefe0e5b4e3527d223416b1661a52ed49f9f141f0bec",
  "0049_failed_sign_ins.sql": "c3ee7b22ce18372775ab4c8841519ae233c781714c7317e06f6a2af64560c738",
  "0046_departures.sql": "a79aa25385ac82e9f598d2fd7da32666e7f942b2ab3d6df46282df41dc27696b",
  "0058_webhook_makers.sql": "97be675ef3a7510eb13685ffc2aaa357fdfd698eae7ff4399195516743570c6f",
  "0060_stored_audio.sql": "0115277f13fbb790f9ffbc79f2fd6e5ad1747c9bf9dfd4f5614b445ada42861b",
  "0061_elevated_guests.sql": "693d5e55a0cd55bad9223d9e80daaa28f9ae96c1b22433c86d52229c1dc1f28e",
  "0062_waiting_webhooks.sql": "94faf9f7d45a0baa373246cda7c03250a5496bab887354cbbedc7d0b8f89b531",
  "0065_remembered_voices.sql": "ab06a3f3d70afe0defbbf84a452448535ba546269c22b9191bbdeb53d57522ea",
  "0066_speaker_confidence.sql": "17c6955cb0bd173b72baed238f8eb49aa722ec468c309014f7e0bc2c74d468a0",
  "0067_speech_engines.sql": "10847fc6146edef38b53f31b6b691a20c0ca22b1045d03eec3893589ae290668",
  "0064_speaker_names.sql": "570c94e031b32caec4ccf7efd1f39f8aca9262cb3ae17768d70676f6801f056e",
  "0068_workspace_vocabulary.sql":
    "ff3a057e7dbbfc7da36072e847d4832f149322c074d8bd2edaed1ba15c23485b",
  "0070_redo_candidates.sql": "b28553bd457fb8700684e2cc361a453d39d6fda86cd96e4cc126adf3fc91dd51",
  "0069_audio_parts.sql": "603bf067960bc3b7ff2c5d367a67917bba2839b450efafd6cb367ac1139574b3",
  "0071_compat.sql": "ff92c4f108b9056114617d0b6542383299d7c180b2d1fc9d8fd8a0ed7d7c1aad",
  "0072_session_listings.sql": "8caba64ce352a34d2de9f627885636b9100e557c636d68c1c708230396864b3d",
  "0073_reading_devices.sql": "341eabf1928baf42190539f850d2a5bf27386e71e35797dadc823bf1fdd7a742",
  "0074_compat_guests.sql": "cc1f8c3da0fc51ce5fdf0d784457fc025759d9b4bf8562bebb4605aa00811f3e",
  "0075_unread_languages.sql": "6bcba55e2547ae0a02bd6815027fe0e06bd376ffa080ee318b45d17a398083d0",
  "0077_checkpoints_of_trained_readers.sql":
    "2f2122ba185bdaf64ca71326f89306cfeab6d424b6cdec7a47d9016f4128337e",
  "0076_graphs_of_english.sql": "6f34a77d04619aad76e247978993680f5819a9c15950f1192a6b32359d07182b",
  "0078_failure_reasons.sql": "53ef6308e7a8708ca08ed28668c6dc5babece9543d631835911bead9625829fd",
  "0079_speaker_channels.sql": "0d56a7a0d6840f7df879cadd50f61be3aa81af2dfa9109781299b6218c64ceeb",
  "0080_prints_of_networks.sql": "558cb09af8fe1542d9f75a8bd0f064e2c9c1d44521e1379cd94cf5708bdeb243",
  "0081_segment_overlaps.sql": "d8f46ce3a386830616e2900b579bc72987ad8c75e935db9fd0b57acd32796822",
  "0082_confirmed_voices.sql": "7221ec85911c81b9fcb9751d972005e6b4f64aa9ec0d765a9cc4b918b270b824",
  "0083_stored_digests.sql": "990f268bb073a7abc7fcf039f141d8687641b8197a99f942cbb2b9fe0f544e6b",
  "0084_retention.sql": "1d26e58675de5d2380a50558c0bd7392da05219ab1184af7250911cbb7ba2aa2",
  "0085_audio_scrub.sql": "a71b587f631f816714086d1d70411de04b669956cb8e282c382ebad352c18d36",
  "0086_erasures.sql": "3059087f5a4a6e68d2fd928d31f9e5b12b46e64062874b167d14204f4a68bbfa",
  "0087_custom_fields.sql": "30b08f1c424c40b26fc84062d7cf94537d0b2e97c6dd455d03030266c27420f7",
  "0088_file_uploads.sql": "faf7b36f667e430f478f0323a3210a48e02a74a5687dcecae31843e395e3658f",
  "0089_webhook_tags.sql": "03ee0a1d95c472a432017c19b6d70b8bf0e812531646bbb283699c22ef8e4f7d",
  "0090_returning_guests.sql": "1372eb8c73cee85f98a7eb3756593c31f93b589006d65d59f4453cef06392c06",
  "0091_opened_invitations.sql": "c77ca0c78ed9ba90ebb5a90b3a23aff7d1fcd52b9e8eaf3a00c64fd287d3b159",
  "0092_listed_fields.sql": "1d9e6f247c889d59d9d93db3ab53869a3655995bacb131c8ecb7ec59b21538c0",
  "0094_heap_only_updates.sql": "bc2021fb8bb8c0dcdaa678f074cd4a23308ec184fbaf14a152ffd949ba55611a",
  "0096_line_changes.sql": "e4ade030b823d1a44e52ae4fe9455a045c8e1de71e351323aeb2305ae6bba938",
  "0098_session_marks.sql": "9d21256bbf4d43046e0cfbeb15b700b7105f64b8b37dea97dcd48425c2a1c4da",
  "0100_open_questions.sql": "fae9d0306a876cbe08c1f4ed54046adc3c132181e56f423c187b4271bf6acbcf",
  "0101_automatic_notes.sql": "ab5e49c634bf1a5254adec0bf88f402af9c44d82af1d6a3de2400b1183f81487",
  "0102_action_items.sql": "f470bfb7e8d5b5c7edeb5b510d2a237ef4e10bea0ef36206c9608e91c9adaef1",
  "0103_remote_text.sql": "d90dcbca47e1b9755857d2f851ca0bdb0c5d3908b2426a321e804cc2c2b79b90",
  "0104_model_notes.sql": "38ecb6bce997ffeacca48aa0c7cc8ae0e2c756479607aaf55a07b604c24d358c",
  "0108_open_damage.sql": "e1e9409401b671ebe3dbb7265c56ad5cffb0d644d0e2bd9574ec306abc65003a",
  "0111_ledger_rights.sql": "3c3770f4a9a18792658d94fc01d84797783999686c7e59d1e056b14c338ebeb6",
  "0109_note_templates.sql": "6940d8efde11c6e5fbcd52bd96c75bf3daa905ac429937d81aa00867f12a3b64",
  "0112_call_tickets.sql": "d3b6c9e5e740390c69d048ea1c17c0566ed334d2d73dfe84e35fa821f3a3f65e",
  "0113_rights.sql": "bf4856254685345bad1957dad72c850cf5ce9bc849ccfa7c649254a269de5c8b",
  "0114_ledger_voices.sql": "21bbf943173d590c6925a22678a465a2a7e63a44e03928ee7620d7c070727abf",
  "0115_stream_logs.sql": "418553828086e5e6cca5f3ad64b2605b36f5d1ee1ce62d0a2dc4adc4f1b55ca0",
  "0116_listings_of_members.sql":
    "9e1feacaf8c67d635db138850a4e07d8f5dbac95826c2627a5687b6c2a377fc5",
};

it("migrations: those that databases have applied are as they were", () => {
  const names = [...numbered(FOLDER), ...numbered(CONTAINED).map((name) => `before-2.0/${name}`)];
  const found = names.map((name) => {
    const sql = readFileSync(new URL(name, FOLDER));
    return [basename(name), createHash("sha256").update(sql).digest("hex")];
  });
  expect(Object.fromEntries(found)).toEqual(APPLIED);
});

it("migrations: a new one goes beside the base file, which has all those before it", () => {
  const last = numbered(CONTAINED).at(-1) ?? "";
  expect(numbered(CONTAINED)).toHaveLength(89);
  expect(numbered(FOLDER).filter((name) => name.slice(0, 4) <= last.slice(0, 4))).toEqual([]);
});

function numbered(folder: URL): string[] {
  return readdirSync(folder)
    .filter((name) => /^\d/.test(name))
    .sort();
}
