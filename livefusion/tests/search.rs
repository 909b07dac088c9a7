//! Searches in sorted arrays: `searchsorted`, `searchsorted_right`, `digitize`.

use livefusion::prelude::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn searchsorted_searchsorted_right_and_digitize__of_any_values__are_partition_points(mut xs: Vec<i8>, ys: Vec<i8>) {
        xs.sort();
        let (sorted, values) = (Array::from(xs.clone()), Array::from(ys.clone()));
        let below = ys.iter().map(|y| xs.partition_point(|x| x < y) as u64);
        let upto = ys.iter().map(|y| xs.partition_point(|x| x <= y) as u64);
        prop_assert_eq!(sorted.searchsorted(&values).force()?.to_vec()?, below.collect::<Vec<_>>());
        let right = upto.collect::<Vec<_>>();
        prop_assert_eq!(sorted.searchsorted_right(&values).force()?.to_vec()?, right.clone());
        prop_assert_eq!(values.digitize(&sorted).force()?.to_vec()?, right);
    }
}
