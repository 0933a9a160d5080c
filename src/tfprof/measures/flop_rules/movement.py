"""Kinds that move, store or name values without computing any: they count as 0.

Kinds that may compute something are not listed here: function calls, datasets that call functions,
`TensorArrayWrite` (a gradient array adds up repeated writes), and summaries that draw or count.
"""

from __future__ import annotations

from tfprof.measures.flop_rules.registry import no_arithmetic, register

_GIVEN = """
    Const HostConst _EagerConst ImmutableConst GuaranteeConst Empty Fill OnesLike ZerosLike OneHot
    FakeParam Placeholder PlaceholderV2 PlaceholderWithDefault _Arg _Retval _DeviceArg _DeviceRetval
"""
_PASSED_ON = """
    Identity IdentityN RefIdentity StopGradient PreventGradient Snapshot DeepCopy Copy CopyHost
    DebugIdentity DebugIdentityV2 DebugIdentityV3 DebugGradientIdentity EnsureShape Cast Bitcast
    _HostCast Complex Real Imag
"""
_CONTROL = """
    NoOp ControlTrigger Abort Assert Switch RefSwitch _SwitchN Merge RefMerge Enter RefEnter Exit
    RefExit NextIteration RefNextIteration LoopCond Select SelectV2 RefSelect LogicalAnd LogicalOr
    LogicalNot All Any
"""
_VARIABLES = """
    Variable VariableV2 TemporaryVariable DestroyTemporaryVariable VarHandleOp _VarHandlesOp
    ReadVariableOp _ReadVariablesOp Assign AssignVariableOp IsVariableInitialized VarIsInitializedOp
    DestroyResourceOp DisableCopyOnRead VariableShape ResourceGather ResourceGatherNd
    ResourceScatterUpdate ResourceScatterNdUpdate ScatterUpdate ScatterNdUpdate
    ResourceStridedSliceAssign StridedSliceAssign Parameter Buffer Slot
"""
_SHAPES = """
    Shape ShapeN Size Rank BroadcastArgs BroadcastGradientArgs ConcatOffset InvertPermutation
    DataFormatDimMap DataFormatVecPermute CudnnRNNParamsSize DeviceIndex
"""
_REARRANGED = """
    Reshape ExpandDims Squeeze Transpose BroadcastTo Tile Reverse ReverseV2 ReverseSequence Roll
    Where XlaDynamicUpdateSlice RaggedTensorToTensor
    RandomShuffle SpaceToBatch SpaceToBatchND BatchToSpace BatchToSpaceND SpaceToDepth DepthToSpace
    ExtractImagePatches ExtractVolumePatches Pad PadV2 MirrorPad Diag DiagPart MatrixDiag
    MatrixDiagV2 MatrixDiagV3 MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3 MatrixSetDiag
    MatrixSetDiagV2 MatrixSetDiagV3 MatrixBandPart ResizeNearestNeighbor CudnnRNNCanonicalToParams
    CudnnRNNCanonicalToParamsV2 CudnnRNNParamsToCanonical CudnnRNNParamsToCanonicalV2
"""
_BITS = """
    BitwiseAnd BitwiseOr BitwiseXor Invert LeftShift RightShift PopulationCount
"""
_CUT_AND_JOINED = """
    Concat ConcatV2 ParallelConcat Pack Unpack Split SplitV Slice StridedSlice StridedSliceGrad
    TensorStridedSliceUpdate TensorScatterUpdate InplaceUpdate Gather GatherV2 GatherNd
    DynamicPartition DynamicStitch ParallelDynamicStitch SparseToDense SparseReshape SparseReorder
    SparseConcat SparseSplit SparseSlice
"""
_CONTAINERS = """
    Stack StackV2 StackPush StackPushV2 StackPop StackPopV2 StackClose StackCloseV2 TensorArray
    TensorArrayV2 TensorArrayV3 TensorArrayGrad TensorArrayGradV2 TensorArrayGradV3
    TensorArrayGradWithShape TensorArrayRead TensorArrayReadV2 TensorArrayReadV3 TensorArrayGather
    TensorArrayGatherV2 TensorArrayGatherV3 TensorArrayConcat TensorArrayConcatV2
    TensorArrayConcatV3 TensorArraySize TensorArraySizeV2 TensorArraySizeV3 TensorArrayClose
    TensorArrayCloseV2 TensorArrayCloseV3 EmptyTensorList TensorListReserve TensorListFromTensor
    TensorListGetItem TensorListSetItem TensorListPushBack TensorListPopBack TensorListStack
    TensorListGather TensorListConcat TensorListConcatV2 TensorListConcatLists TensorListSplit
    TensorListLength TensorListResize TensorListElementShape OptionalFromValue OptionalGetValue
    OptionalHasValue OptionalNone HashTable HashTableV2 MutableHashTable MutableHashTableV2
    MutableHashTableOfTensors MutableHashTableOfTensorsV2 MutableDenseHashTable
    MutableDenseHashTableV2 InitializeTable InitializeTableV2 InitializeTableFromTextFile
    InitializeTableFromTextFileV2 LookupTableFind LookupTableFindV2 LookupTableInsert
    LookupTableInsertV2 LookupTableRemoveV2 LookupTableSize LookupTableSizeV2 LookupTableImport
    LookupTableImportV2 LookupTableExport LookupTableExportV2
"""
_BETWEEN_DEVICES = """
    Send Recv _Send _Recv _HostSend _HostRecv CollectiveBcastSend CollectiveBcastSendV2
    CollectiveBcastRecv CollectiveBcastRecvV2 CollectiveGather CollectiveGatherV2 CollectivePermute
    NcclBroadcast _NcclBroadcastSend _NcclBroadcastRecv
"""
_QUEUES = """
    FIFOQueue FIFOQueueV2 PaddingFIFOQueue PaddingFIFOQueueV2 PriorityQueue PriorityQueueV2
    RandomShuffleQueue RandomShuffleQueueV2 FakeQueue QueueEnqueue QueueEnqueueV2 QueueEnqueueMany
    QueueEnqueueManyV2 QueueDequeue QueueDequeueV2 QueueDequeueMany QueueDequeueManyV2
    QueueDequeueUpTo QueueDequeueUpToV2 QueueSize QueueSizeV2 QueueIsClosed QueueIsClosedV2
    QueueClose QueueCloseV2 Barrier BarrierInsertMany BarrierTakeMany BarrierReadySize
    BarrierIncompleteSize BarrierClose Stage Unstage StagePeek StageSize StageClear
"""
_FILES = """
    ReadFile WriteFile MatchingFiles ShardedFilename ShardedFilespec Save SaveV2 SaveSlices Restore
    RestoreV2 RestoreSlice MergeV2Checkpoints WholeFileReader WholeFileReaderV2 TextLineReader
    TextLineReaderV2 FixedLengthRecordReader FixedLengthRecordReaderV2 TFRecordReader
    TFRecordReaderV2 IdentityReader IdentityReaderV2 LMDBReader ReaderRead ReaderReadV2
    ReaderReadUpTo ReaderReadUpToV2 ReaderReset ReaderResetV2 ReaderNumRecordsProduced
    ReaderNumRecordsProducedV2 ReaderNumWorkUnitsCompleted ReaderNumWorkUnitsCompletedV2
    ReaderRestoreState ReaderRestoreStateV2 ReaderSerializeState ReaderSerializeStateV2 DecodeRaw
    ParseTensor SerializeTensor ParseExample ParseExampleV2 ParseSingleExample ParseSequenceExample
    ParseSequenceExampleV2 ParseSingleSequenceExample
"""
_DATASETS = """
    TensorDataset TensorSliceDataset SparseTensorSliceDataset RangeDataset ListDataset
    TextLineDataset TFRecordDataset TFRecordDatasetV2 FixedLengthRecordDataset
    FixedLengthRecordDatasetV2 CSVDataset CSVDatasetV2 SqlDataset LMDBDataset MatchingFilesDataset
    BatchDataset BatchDatasetV2 ParallelBatchDataset PaddedBatchDataset PaddedBatchDatasetV2
    DenseToSparseBatchDataset UnbatchDataset RebatchDataset RebatchDatasetV2 WindowDataset
    SlidingWindowDataset RepeatDataset ShuffleDataset ShuffleDatasetV2 ShuffleDatasetV3
    ShuffleAndRepeatDataset ShuffleAndRepeatDatasetV2 GlobalShuffleDataset PrefetchDataset
    TakeDataset SkipDataset ZipDataset ConcatenateDataset DirectedInterleaveDataset UniqueDataset
    CacheDataset CacheDatasetV2 SnapshotDataset SnapshotDatasetV2 ShardDataset AutoShardDataset
    OptionsDataset ModelDataset OptimizeDataset OptimizeDatasetV2 FinalizeDataset RewriteDataset
    IgnoreErrorsDataset AssertCardinalityDataset AssertNextDataset AssertPrevDataset
    NonSerializableDataset MaxIntraOpParallelismDataset PrivateThreadPoolDataset ThreadPoolDataset
    GetOptions DataServiceDataset DataServiceDatasetV2 DataServiceDatasetV3 DataServiceDatasetV4
    DatasetCardinality DatasetFingerprint DatasetFromGraph DatasetToGraph DatasetToGraphV2
    DatasetToTFRecord RegisterDataset RegisterDatasetV2 WrapDatasetVariant UnwrapDatasetVariant
    AnonymousMemoryCache DummyMemoryCache DeleteMemoryCache AnonymousSeedGenerator
    DummySeedGenerator DeleteSeedGenerator
"""
_ITERATORS = """
    Iterator IteratorV2 OneShotIterator AnonymousIterator AnonymousIteratorV2 AnonymousIteratorV3
    MakeIterator DeleteIterator SerializeIterator DeserializeIterator IteratorGetNext
    IteratorGetNextSync IteratorGetNextAsOptional IteratorGetDevice IteratorGetModelProto
    IteratorToStringHandle IteratorFromStringHandle IteratorFromStringHandleV2 MultiDeviceIterator
    AnonymousMultiDeviceIterator AnonymousMultiDeviceIteratorV3 MultiDeviceIteratorInit
    MultiDeviceIteratorGetNextFromShard MultiDeviceIteratorToStringHandle
    MultiDeviceIteratorFromStringHandle DeleteMultiDeviceIterator
"""
_TEXT = """
    Print PrintV2 StringFormat StringJoin StringLength StringLower StringUpper StringStrip
    StringSplit StringSplitV2 Substr ReduceJoin RegexReplace RegexFullMatch StaticRegexReplace
    StaticRegexFullMatch StringToHashBucket StringToHashBucketFast StringToHashBucketStrong
    AsString DecodeBase64 EncodeBase64
"""
_SUMMARIES = """
    ScalarSummary TensorSummary TensorSummaryV2 MergeSummary WriteSummary WriteScalarSummary
    WriteRawProtoSummary WriteGraphSummary SummaryWriter CreateSummaryFileWriter
    CreateSummaryDbWriter FlushSummaryWriter CloseSummaryWriter ImportEvent
"""

_FAMILIES = (
    _GIVEN,
    _PASSED_ON,
    _CONTROL,
    _VARIABLES,
    _SHAPES,
    _REARRANGED,
    _BITS,
    _CUT_AND_JOINED,
    _CONTAINERS,
    _BETWEEN_DEVICES,
    _QUEUES,
    _FILES,
    _DATASETS,
    _ITERATORS,
    _TEXT,
    _SUMMARIES,
)

for _kind in " ".join(_FAMILIES).split():
    register(_kind, no_arithmetic)
