import RTMProtocol
import SwiftProtobuf
import Synchronization

/// One set of metadata that compares its revision, behind a fake edge.
final class MetadataServer: Sendable {
    fileprivate struct Contents {
        var revision: Int64 = 0
        var values: [String: String] = [:]
    }

    private let contents = Mutex(Contents())

    func value(_ key: String) -> String? { contents.withLock { $0.values[key] } }

    /// Somebody else's write.
    func write(_ key: String, _ value: String) {
        contents.withLock { contents in
            contents.revision += 1
            contents.values[key] = value
        }
    }

    /// `nil` for a frame that isn't about metadata.
    func answer(_ frame: Rtm_Client_ClientFrame) -> [Rtm_Client_ServerFrame]? {
        contents.withLock { contents in
            switch frame.body {
            case .getMetadata: [FakeEdge.answer(to: frame) { $0.metadata = contents.set }]
            case .writeMetadata(let write): [contents.answer(frame, write)]
            default: nil
            }
        }
    }
}

extension MetadataServer.Contents {
    fileprivate var set: Rtm_Client_Metadata {
        .with { metadata in
            metadata.majorRevision = revision
            metadata.items = values.map { key, value in .with { ($0.key, $0.value) = (key, value) } }
        }
    }

    fileprivate mutating func answer(
        _ frame: Rtm_Client_ClientFrame, _ write: Rtm_Client_WriteMetadata
    ) -> Rtm_Client_ServerFrame {
        let expected = write.majorRevision == -1 ? 0 : write.majorRevision
        guard write.majorRevision == 0 || expected == revision else {
            var refusal = FakeEdge.refusal(of: frame, .errorStorageOutdatedRevision)
            refusal.error.conflict.majorRevision = revision
            return refusal
        }
        revision += 1
        for item in write.items { values[item.key] = item.value }
        return FakeEdge.answer(to: frame) { $0.metadataWritten.majorRevision = revision }
    }
}
